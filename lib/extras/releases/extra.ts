// What is published, and the directories of builds: checks them, compresses them, keeps the files of earlier builds for
// open pages, and removes them.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const releases: Extra<Pipeline> = {
  name: 'releases',
  standsOn: ['deltas', 'telling', 'vite'],
  commandLine: async () => ({
    commands: [
      (await import('./compress-command.ts')).compress,
      (await import('./keep-command.ts')).keep,
      (await import('./verify-command.ts')).verify,
      (await import('./clean-command.ts')).clean
    ]
  })
}
