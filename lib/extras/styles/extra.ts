// Minifies stylesheets and scripts, lowers their syntax for the browsers of the option `target`, and joins stylesheets
// with their imports, all with esbuild.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { joinModeOf } from '../modules/options.ts'

export const styles: Extra<Pipeline> = {
  name: 'styles',
  standsOn: ['modules'],
  async transform(project, asked, warn) {
    const isLowered = project.apps.some(app => app.target !== undefined)
    const lowered = isLowered ? await (await import('./transform.ts')).lowering(project) : undefined
    if (!asked || !warn) return lowered
    const minified = await (await import('./transform.ts')).minifier(project, asked, warn)
    return minified && { ...lowered, ...minified }
  },
  async bundler(project, sources: Sources, transforms) {
    if (!project.apps.some(joinModeOf)) return undefined
    return (await import('./join.ts')).makeBundler(project, sources, transforms)
  },
  commandLine: () => import('./additions.ts')
}
