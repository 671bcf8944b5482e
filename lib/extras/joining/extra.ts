// Modules, joined by Rolldown when they are precompiled.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const joining: Extra<Pipeline> = {
  name: 'joining',
  async combiner(site, isMinified) {
    if (!site.apps.some(({ bundle, fingerprint }) => bundle !== false && fingerprint))
      return undefined
    return (await import('./combiner.ts')).makeCombiner(site, isMinified)
  },
  async adapts(site) {
    if (!site.isPrecompile) return undefined
    return (await import('./combiner.ts')).adapts(site)
  },
  rows: async report => (await import('./combiner.ts')).rowsOf(report)
}
