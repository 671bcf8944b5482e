// Bundlers' manifests: entries, hashed names, files by source.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import { startBundles } from './bundles.ts'
import { readManifest } from './manifests/read-bundle.ts'

export const bundles: Extra<Pipeline> = {
  name: 'bundles',
  run: startBundles,
  readManifest,
  known: async (site, warn, pipeline) => {
    const running = pipeline?.running ?? [startBundles(site, warn)]
    for (const { loading } of running) await loading
    return running.find(({ names }) => names)?.names?.known()
  },
  facts: async (mount, env) => (await import('./facts.ts')).factsOf(mount, env)
}
