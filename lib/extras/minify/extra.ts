// Makes stylesheets and scripts smaller in production, with esbuild.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const minify: Extra<Pipeline> = {
  name: 'minify',
  async transform(project, asked, warn) {
    return asked && warn && (await import('./minify.ts')).minifier(project, asked, warn)
  },
  commandLine: () => import('./additions.ts'),
  rows: async rows => (await import('./additions.ts')).rowsOf(rows)
}
