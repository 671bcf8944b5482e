// Files of npm packages, published without a bundler.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const packages: Extra<Pipeline> = {
  name: 'packages',
  async sources(site) {
    if (!site.apps.some(app => app.packages.length > 0)) return undefined
    const { AppPackages } = await import('./app-packages.ts')
    return (app, own) => (app.packages.length > 0 ? new AppPackages(app, site, own) : undefined)
  },
  origin({ packages: given }) {
    const names = given.flatMap(each => (typeof each === 'string' ? each : Object.keys(each)))
    return names.length > 0 ? `npm: ${[...new Set(names)].join(', ')}` : undefined
  }
}
