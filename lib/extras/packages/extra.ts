// Publishes files of npm packages without a bundler.
import type { Extra } from '../../assets/parts.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const packages: Extra<Pipeline> = {
  name: 'packages',
  standsOn: ['joining'],
  sources: {
    async make(project) {
      if (project.apps.every(app => app.packages.length === 0)) return undefined
      const { AppPackages } = await import('./app-packages.ts')
      // What is published on request is not joined.
      const mayBeJoined = (app: AppSettings) => project.isPrecompile || !app.compile
      const isJoined =
        project.apps.some(mayBeJoined) &&
        (await (await import('../joining/combiner.ts')).adapts(project))
      return (app, own) => {
        if (app.packages.length === 0) return undefined
        const isAdapted = isJoined && mayBeJoined(app) && isJoined(app)
        return new AppPackages(app, { ...project, isAdapted }, own)
      }
    },
    advise: async (app, specifier, { root }) =>
      (await import('./advice.ts')).adviceOn(app, specifier, root)
  }
}
