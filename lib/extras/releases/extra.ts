// Keeps the files of earlier builds for open pages, removes them, and compresses the directories of builds.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const releases: Extra<Pipeline> = {
  name: 'releases',
  standsOn: ['deltas', 'vite'],
  commandLine: async () => ({
    commands: [
      (await import('./compress-command.ts')).compress,
      (await import('./keep-command.ts')).keep,
      (await import('./clean-command.ts')).clean
    ]
  })
}
