// Bundlers' manifests: entries, hashed names, files by source.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const bundles: Extra<Pipeline> = {
  name: 'bundles',
  facts: async (mount, env) => (await import('./facts.ts')).factsOf(mount, env)
}
