// Lists what there is, and explains why a request gets what it gets.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const telling: Extra<Pipeline> = {
  name: 'telling',
  start: async ({ settings, running }) => {
    const { printOverview } = await import('./overview.ts')
    await printOverview(settings, { running })
  },
  standsOn: ['bundles', 'deltas', 'media', 'modules'],
  commandLine: async () => ({
    commands: [
      (await import('./explain-command.ts')).explain,
      (await import('./list-command.ts')).list
    ]
  })
}
