// Sends and writes deltas from earlier versions of files, for browsers that have one of these (RFC 9842).
import type { Extra } from '../../runtime/app/extra.ts'
import { senderOf } from './serve-deltas.ts'

export const deltas: Extra = {
  name: 'deltas',
  deltas: {
    // This is imported when a server starts: a request loads no module.
    sender: senderOf,
    writer: async (...given) => (await import('./write-deltas.ts')).deltaWriter(...given)
  },
  commandLine: () => import('./additions.ts')
}
