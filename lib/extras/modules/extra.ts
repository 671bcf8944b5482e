// Builds npm packages, and joins modules when they are precompiled; both with Rolldown.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { isJoined } from './options.ts'

export const modules: Extra<Pipeline> = {
  name: 'modules',
  sources: {
    async make(project) {
      if (project.apps.every(app => app.packages.length === 0)) return undefined
      return (await import('./building/app-packages.ts')).packagesOf(project)
    },
    advise: async (app, specifier, { root }) =>
      (await import('./advice.ts')).adviceOn(app, specifier, root)
  },
  async bundler(project, sources: Sources, transforms) {
    if (!project.apps.some(isJoined)) return undefined
    return (await import('./joining/bundler.ts')).makeBundler(project, sources, transforms)
  },
  commandLine: () => import('./additions.ts'),
  rows: async report => (await import('./additions.ts')).rowsOf(report)
}
