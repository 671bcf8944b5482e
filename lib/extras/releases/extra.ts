// Files of earlier builds: kept for open pages, and removed; compressed copies in the directories of builds.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import { keptList } from './kept-files.ts'

export const releases: Extra<Pipeline> = {
  name: 'releases',
  fileList: keptList,
  checkDirectory: async (...given) => (await import('./build.ts')).checkDirectory(...given),
  commands: async () => [
    (await import('./compress-command.ts')).compress,
    (await import('./keep-command.ts')).keep,
    (await import('./clean-command.ts')).clean
  ],
  additions: async () => (await import('./additions.ts')).additions
}
