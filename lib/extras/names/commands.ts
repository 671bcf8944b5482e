// The command `types`, and the check of names in views, `verify --views`.
import type { Addition, Call, Command } from '../../runtime/app/extra.ts'
import { printProblems, UsageError } from '../../publishing/cli/command.ts'
import { projectOf } from '../../publishing/cli/config.ts'
import { checkViews, HELP, totalOf } from './check.ts'
import { namedInProduction, writeNameTypes } from './name-types.ts'
import { typesFile } from './options.ts'
import { globsOf } from './views.ts'

export const commands: readonly Command[] = [
  {
    name: 'types',
    before: 'precompile',
    summary: 'write assets.d.ts: a mistyped name of an asset does not compile',
    about: `Writes assets.d.ts to the project root. It holds the names of all assets: those of
every app, of packages, of bundles by their manifests, and the entries of these.
The view helpers and preload then take only those, and editors complete them. The
file must be among those that tsconfig.json includes.

The names are those of production, whatever the environment is. In development a
server keeps the file current, if it exists.`,
    examples: [['koa-fresh-assets types', 'Before tsc, which then fails for a mistyped name:']],
    async run({ output, loadProject }) {
      const named = await namedInProduction(await loadProject('deployment'), output.warn)
      const isWritten = await writeNameTypes(named)
      const file = typesFile(named.project)
      const text = `${file} ${isWritten ? 'was written' : 'is current'}`
      return output.result({ file, isWritten }, text)
    }
  }
]

export const additions: readonly Addition[] = [
  {
    to: 'verify',
    about: `With --views, it only looks in views, in any language, for literal names in calls
of the helpers, such as assets.stylesheet('app'), that no asset and no entry of a
bundle has, and prints file and line with the nearest name. A view below an app's
folder may name that app's assets only.`,
    options: {
      views: {
        value: '[GLOB]',
        description: 'only check the names in these views; default: the option views'
      }
    },
    examples: [
      ['koa-fresh-assets verify --views "views/**/*.ejs"', 'Fail a build for a mistyped name:']
    ],
    run(call) {
      const given = (call.values as { readonly views?: string | true }).views
      const [directory] = call.args
      if (given === undefined) return undefined
      if (directory === undefined) return verifyViews(call, given)
      throw new UsageError(`--views takes one glob: put it in quotes, got '${directory}' as well`)
    }
  }
]

async function verifyViews(call: Call, given: string | true): Promise<number> {
  const project = await projectOf(call)
  const globs = given === true ? globsOf(project) : [given]
  if (globs.length === 0) throw new UsageError('--views requires a glob, or the option views')
  const report = await checkViews(project, globs)
  if (report.files > 0) return printProblems(call.output, report, [totalOf(report)], { help: HELP })
  throw new UsageError(`--views: no file in ${project.root} matches ${globs.join(', ')}`)
}
