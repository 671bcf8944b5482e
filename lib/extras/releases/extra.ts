// Files of earlier builds: kept for open pages, and removed; compressed copies in the directories of builds.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const releases: Extra<Pipeline> = {
  name: 'releases',
  standsOn: ['bundles'],
  commandLine: async () => ({
    commands: [
      (await import('./compress-command.ts')).compress,
      (await import('./keep-command.ts')).keep,
      (await import('./clean-command.ts')).clean
    ],
    additions: (await import('./additions.ts')).additions
  })
}
