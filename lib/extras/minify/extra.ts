// Makes stylesheets and scripts smaller in production, with esbuild.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const minify: Extra<Pipeline> = {
  name: 'minify',
  transform: async (...given) => (await import('./minify.ts')).minifier(...given),
  commandLine: () => import('./additions.ts'),
  rows: async rows => (await import('./additions.ts')).rowsOf(rows)
}
