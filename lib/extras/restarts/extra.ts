// Warns of a program that restarts the server because of the files that the server publishes.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const restarts: Extra<Pipeline> = {
  name: 'restarts',
  start: async ({ settings, warn }) =>
    (await import('./restarts.ts')).warnOfRestarts(settings, warn)
}
