// Builds npm packages, and joins modules in a precompile, both with Rolldown.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { findsPackages, joinModeOf, namesPackages, type JoinRow } from './options.ts'

export const modules: Extra<Pipeline> = {
  name: 'modules',
  sources: {
    async make(project) {
      if (!project.apps.some(app => findsPackages(app) || namesPackages(app))) return undefined
      return (await import('./building/app-packages.ts')).packagesOf(project)
    },
    advise: async (app, specifier, { root }) =>
      (await import('./packages.ts')).adviceOn(app, specifier, root)
  },
  async bundler(project, sources: Sources, transforms) {
    if (!project.apps.some(joinModeOf)) return undefined
    return (await import('./joining/bundler.ts')).makeBundler(project, sources, transforms)
  },
  async commandLine() {
    const { count, formatBytes } = await import('../../publishing/cli/command.ts')
    return {
      additions: [{ to: 'precompile', about: ABOUT }],
      rows({ joined }: Partial<JoinRow>) {
        if (!joined) return []
        const what = `${count(joined.modules, 'module')} of ${formatBytes(joined.insteadOf)}`
        const files = `${count(joined.files, 'file')} of ${formatBytes(joined.bytes)}`
        return [['Joined', `${what} in ${files}`]]
      }
    }
  }
}

const ABOUT = `Modules are joined: those of each npm package, and with
bundle: true those of the application as well, into the ones that nothing imports.
The option bundle: false turns that off.`
