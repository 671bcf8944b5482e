// Files of earlier builds of a bundler in the next one.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import { keptList } from './kept-files.ts'

export const releases: Extra<Pipeline> = {
  name: 'releases',
  fileList: keptList,
  checkDirectory: async (...given) => (await import('./build.ts')).checkDirectory(...given),
  commands: async () => [(await import('./keep-command.ts')).keep],
  additions: async () => (await import('./clean-command.ts')).additions
}
