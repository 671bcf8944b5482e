// Sends and writes deltas from earlier versions of files, for browsers that have such a version (RFC 9842).
import type { Extra } from '../../runtime/app/extra.ts'
import { senderOf } from './serve-deltas.ts'

export const deltas: Extra = {
  name: 'deltas',
  deltas: {
    // This is imported at start, as a request must load no module.
    sender: senderOf,
    writer: async (...given) => (await import('./write-deltas.ts')).deltaWriter(...given)
  },
  commandLine: () => import('./additions.ts')
}
