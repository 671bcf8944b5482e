// Files of npm packages, published without a bundler.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const packages: Extra<Pipeline> = {
  name: 'packages',
  async sources(site) {
    if (site.apps.every(app => app.packages.length === 0)) return undefined
    const { AppPackages } = await import('./app-packages.ts')
    const adapting = await Promise.all(site.extras.map(async each => each.adapts?.(site)))
    return (app, own) => {
      if (app.packages.length === 0) return undefined
      const isAdapted = adapting.some(adapts => adapts?.(app))
      return new AppPackages(app, { ...site, isAdapted }, own)
    }
  },
  advise: async (app, specifier, { root }) =>
    (await import('./advice.ts')).adviceOn(app, specifier, root),
  origin({ packages: given }) {
    const names = given.flatMap(each => (typeof each === 'string' ? each : Object.keys(each)))
    return names.length > 0 ? `npm: ${[...new Set(names)].join(', ')}` : undefined
  }
}
