// Keeps the index of what was published on request for the next process.
import type { Extra } from '../../runtime/app/extra.ts'

export const keptIndex: Extra = {
  name: 'kept-index',
  keptIndex: {
    keeper: async publishing => (await import('./kept-index.ts')).keepIndex(publishing),
    written: async settings => (await import('./kept-index.ts')).writtenBefore(settings)
  }
}
