// The names in views: as types, and checked.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const names: Extra<Pipeline> = {
  name: 'names',
  commands: async () => [(await import('./types-command.ts')).types]
}
