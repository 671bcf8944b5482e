// Publishes files of npm packages without a bundler.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const packages: Extra<Pipeline> = {
  name: 'packages',
  standsOn: ['joining'],
  sources: {
    async make(project) {
      if (project.apps.every(app => app.packages.length === 0)) return undefined
      const { AppPackages } = await import('./app-packages.ts')
      const adapting =
        project.isPrecompile && (await import('../joining/combiner.ts')).adapts(project)
      const isAdaptedIn = (await adapting) || (() => false)
      return (app, own) => {
        if (app.packages.length === 0) return undefined
        return new AppPackages(app, { ...project, isAdapted: isAdaptedIn(app) }, own)
      }
    },
    advise: async (app, specifier, { root }) =>
      (await import('./advice.ts')).adviceOn(app, specifier, root)
  }
}
