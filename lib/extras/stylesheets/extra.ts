// Joins stylesheets with those that they import, when they are precompiled.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { modeOf } from '../modules/options.ts'

export const stylesheets: Extra = {
  name: 'stylesheets',
  standsOn: ['minify', 'modules'],
  async bundler(project, sources, transforms) {
    if (!project.apps.some(modeOf)) return undefined
    const { makeBundler } = await import('./bundler.ts')
    return makeBundler(project, sources as Sources, app =>
      transforms.some(each => each.minifies(app))
    )
  },
  rows: async report => (await import('./additions.ts')).rowsOf(report)
}
