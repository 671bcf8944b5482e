// Keeps the index of what was published on request for the next process.
import type { Extra } from '../../runtime/app/extra.ts'

export const keptIndex: Extra = {
  name: 'kept-index',
  keepIndex: async publishing => (await import('./kept-index.ts')).keepIndex(publishing)
}
