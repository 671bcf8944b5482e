// Bundlers' manifests: entries, hashed names, files by source.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const bundles: Extra<Pipeline> = {
  name: 'bundles',
  known: async (site, warn, running) => {
    const { Bundles } = await import('./bundles.ts')
    const all = running?.bundles ?? new Bundles(site, warn)
    await all.loading
    return all.isEmpty ? undefined : all.names()
  },
  facts: async (mount, env) => (await import('./facts.ts')).factsOf(mount, env)
}
