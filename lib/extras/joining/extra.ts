// Joins modules with Rolldown when they are precompiled.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import type { AppSettings } from '../../assets/settings/app-settings.ts'
import type { Sources } from '../../assets/sources/sources.ts'

export const joining: Extra<Pipeline> = {
  name: 'joining',
  async bundler(project, sources: Sources, isMinified) {
    if (!project.apps.some(app => mayJoin(app, sources))) return undefined
    const combiner = await (await import('./combiner.ts')).makeCombiner(project, isMinified)
    return (await import('./combine.ts')).bundlerBy(combiner, project, sources)
  },
  commandLine: () => import('./additions.ts'),
  rows: async report => (await import('./additions.ts')).rowsOf(report)
}

/** Only modules of packages are joined by default. */
function mayJoin(app: AppSettings, sources: Sources): boolean {
  const { fingerprint, bundle = 'packages' } = app
  return (
    fingerprint && (bundle === true || (bundle === 'packages' && sources.of(app).lists.length > 0))
  )
}
