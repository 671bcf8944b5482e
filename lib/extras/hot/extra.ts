// Replaces edited modules in open pages: import.meta.hot.
import type { Extra, Project, Running } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { tagHelpers } from '../../runtime/views/tags.ts'
import { helpersOf } from '../live/tag.ts'
import type { HotModules } from './modules.ts'

export const hot: Extra<Pipeline> = {
  name: 'hot',
  standsOn: ['live', 'modules'],
  run: project => (project.hot && project.live ? runHot(project) : undefined),
  async transform(project) {
    const { env, hot, live, isPrecompile } = project
    if (!hot || !live || env !== 'development' || isPrecompile) return undefined
    return (await import('./refresh.ts')).refreshing(project)
  },
  pages: async ({ settings }) =>
    settings.hot ? (await import('./refresh.ts')).hotPages(settings) : {}
}

function runHot(project: Project): Running & { readonly following: HotModules | undefined } {
  const { base, prefix } = project
  const scriptAt = (name: string) => `${base}${encodePath(prefix)}/-/${name}`
  // Module scripts run in the order of the page, so these run before those of the app.
  const live = helpersOf(['live.js', 'hot.js'].map(scriptAt))
  let modules: HotModules | undefined
  return {
    load: async () => void (modules ??= new (await import('./modules.ts')).HotModules(project)),
    adapt: async (file, wanted) => modules?.adapt(file, wanted) ?? file,
    get following() {
      return modules
    },
    helpers: {
      ...live,
      of(view) {
        const [liveOf, { javascript }] = [live.of(view), tagHelpers(view)]
        const ticked = (...args: Parameters<typeof javascript>) =>
          modules?.withTicks(javascript(...args))
        return (page, isLive) => ({
          ...liveOf(page, isLive),
          // A page that is opened now must have one URL for each module.
          ...(isLive && { javascript: ticked })
        })
      }
    }
  }
}
