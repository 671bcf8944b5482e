// Writes the files of a new project, or of another app in one.
import type { Extra } from '../../runtime/app/extra.ts'

export const init: Extra = {
  name: 'init',
  standsOn: ['restarts'],
  commandLine: async () => ({ commands: [(await import('./init-command.ts')).init] })
}
