// Writes the files of a new project, or of another app in it.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const init: Extra<Pipeline> = {
  name: 'init',
  standsOn: ['restarts'],
  commandLine: async () => ({ commands: [(await import('./init-command.ts')).init] })
}
