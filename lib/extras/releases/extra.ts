// Files of earlier builds of a bundler in the next one.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const releases: Extra<Pipeline> = {
  name: 'releases',
  commands: async () => [(await import('./keep-command.ts')).keep]
}
