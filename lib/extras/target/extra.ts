// Lowers the syntax of stylesheets and scripts to what the browsers of the option `target` know.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const target: Extra<Pipeline> = {
  name: 'target',
  standsOn: ['minify'],
  async transform(project) {
    if (project.apps.every(app => app.target === undefined)) return undefined
    return (await import('./lower.ts')).lowering(project)
  }
}
