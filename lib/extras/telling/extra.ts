// Lists assets and mounts, and explains how a request gets its response.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const telling: Extra<Pipeline> = {
  name: 'telling',
  standsOn: ['media', 'modules', 'vite'],
  start: async pipeline => (await import('./overview.ts')).printOverview(pipeline),
  commandLine: async () => ({ commands: (await import('./commands.ts')).commands })
}
