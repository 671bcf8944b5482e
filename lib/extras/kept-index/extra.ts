// Keeps the index of what was published on request for the next process.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const keptIndex: Extra<Pipeline> = {
  name: 'kept-index',
  keepIndex: async pipeline => {
    const plain = pipeline.settings.apps.find(({ compile, fingerprint }) => compile && !fingerprint)
    const index = plain && pipeline.requested.publisherOf(plain).index
    if (!index) return undefined
    return (await import('./kept-index.ts')).keepIndex(pipeline.settings, pipeline.sources, index)
  }
}
