// Checks names in views: those of `verify --views`, and those of the option `views` for `verify` and `precompile`.
import { statIfThere } from '../../runtime/files/at-start.ts'
import type { Output } from '../../runtime/app/command-line.ts'
import type { Addition, Check, Project } from '../../runtime/app/parts.ts'
import { printProblems, UsageError } from '../../publishing/cli/command.ts'
import { projectOf } from '../../publishing/cli/config.ts'
import { count } from '../../publishing/cli/format.ts'
import { checkViews, type ViewsReport } from './check-views.ts'

export const views: Addition = {
  to: 'verify',
  about: `With --views, it only looks in views, in any language, for literal names in calls
of the helpers, such as assets.stylesheet('app'), that no asset and no entry of a
bundle has, and for misspelled helpers, and prints file and line with the nearest
name. A view below an app's folder may name that app's assets only. Nothing needs
to be precompiled for that. Those of the option views are checked with the files.`,
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
    if (given !== undefined && directory !== undefined) {
      const both = `got '${directory}' as well`
      throw new UsageError(`--views takes one glob: put it in quotes, ${both}`)
    }
    if (given !== undefined)
      return projectOf(call).then(project => verifyViews(call.output, project, given))
    if (directory === undefined || !/[*?{]/.test(directory) || statIfThere(directory))
      return undefined
    throw new UsageError(`${directory} is a glob: for views, write --views '${directory}'`)
  }
}

async function verifyViews(output: Output, project: Project, given: string | true) {
  const globs = given === true ? globsOf(project) : [given]
  if (globs.length === 0) throw new UsageError('--views requires a glob, or the option views')
  const report = await checkViews(project, globs)
  if (report.files > 0) return printProblems(output, report, [textOf(report)], { help: HELP })
  throw new UsageError(`--views: no file in ${project.root} matches ${globs.join(', ')}`)
}

export async function checkOption(project: Project): Promise<Check> {
  const globs = globsOf(project)
  const report = await checkViews(project, globs, true)
  const doubt = `no view matches ${globs.join(' or ')}, so no name was checked (the option views)`
  const { problems, files } = report
  return {
    problems,
    total: textOf(report),
    help: HELP,
    report: { views: report },
    doubts: files === 0 ? [doubt] : []
  }
}

const HELP = 'production.md#names-in-views'

const globsOf = ({ options }: Project) => [options.views ?? []].flat()

function textOf({ files, names }: ViewsReport): string {
  return `${count(names, 'name')} in ${count(files, 'view')}`
}
