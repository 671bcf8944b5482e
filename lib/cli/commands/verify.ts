// The `verify` command.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { VerifyProblem } from '../../assets/building/verify.ts'
import { checkViews, type ViewsReport } from '../../extras/names/check-views.ts'
import { verify as compare } from '../../assets/inventory/verify.ts'
import { verifyCopies } from '../../extras/releases/build.ts'
import type { Call, Command, Output, Site } from '../../assets/parts.ts'
import { printable } from '../../printable.ts'
import { directoryAt, FAILED, OK, UsageError } from '../command.ts'
import { findConfig } from '../config.ts'
import { count } from '../format.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'check public and mounts, or the compressed copies in a directory',
  argument: '[dir]',
  about: `Reads every file that the manifest names and checks that it exists, that
its size, the digest in its name and its Subresource Integrity are correct, that the
plain name has the same content, that the compressed copies decompress to it, and
that deltas are intact. For each mount it checks that the files that the bundler's
manifest names exist, and the compressed copies and deltas. Prints a line for each
problem, and writes nothing.

With a directory, such as one that 'compress' was run on, it only checks that: the
compressed copies and deltas in it, whether each copy has an original, is not older
than that, and decompresses to it, and whether each delta starts from a file that
is there; whether the files exist that a bundler's manifest in it names; and whether
those that 'keep' brought into it are intact, and their list is. This needs no
configuration. A .gz without an original is taken for an archive, unless a
.br or .zst is beside it.

With --views, it only looks in views, in any language, for literal names in calls
of the helpers, such as assets.stylesheet('app'), that no asset and no entry of a
bundle has, and for misspelled helpers, and prints file and line with the nearest
name. A view below an app's folder may name that app's assets only. Nothing needs
to be precompiled for that. Those of the option views are checked with the files.

Run it after copying files to another machine, or when a page looks wrong.
'precompile' and 'compress' fix what it finds.`,
  options: {
    views: {
      value: '[GLOB]',
      description: 'only check the names in these views; default: the option views'
    }
  },
  examples: [
    ['koa-fresh-assets verify', 'Fail a deployment when a file was lost on the way:'],
    ['koa-fresh-assets verify dist', 'The same for a directory with compressed copies:'],
    ["koa-fresh-assets verify --views 'views/**/*.ejs'", 'Fail a build for a mistyped name:']
  ],
  async run(call) {
    const { output, values, args } = call
    const { views } = values
    const [directory] = args
    if (views !== undefined) {
      if (directory === undefined) return verifyViews(output, await siteOf(call), views)
      const given = `got '${directory}' as well`
      throw new UsageError(`--views takes one glob: put it in quotes, ${given}`)
    }
    if (directory === undefined) return verifyPublic(output, await siteOf(call))
    if (/[*?{]/.test(directory) && !existsSync(directory)) {
      throw new UsageError(`${directory} is a glob: for views, write --views '${directory}'`)
    }
    const report = await verifyCopies(directoryAt(values, directory))
    const { files } = report
    const named = files === undefined ? [] : [`${count(files, 'file')} of the bundle`]
    return print(output, report, [...named, copiesText(report)], directory)
  }
}

/** A configuration that was not copied with the files would leave mounts and other directories unchecked. */
async function siteOf({ output, values, loadSite }: Call): Promise<Site> {
  const site = await loadSite('deployment')
  const { root } = site
  if (findConfig(root, values.config) === undefined) {
    output.note(`there is no assets.config.js or .ts in ${root}: checking with the default options`)
  }
  return site
}

async function verifyPublic(output: Output, site: Site): Promise<number> {
  const report = await compare(site)
  const { assets, mounts } = report
  const totals = [
    ...(assets > 0 || !mounts ? [count(assets, 'asset')] : []),
    ...(mounts
      ? [`${count(mounts.files, 'file')} of bundles`, `${copiesText(mounts)} in mounts`]
      : [])
  ]
  const globs = [site.options.views ?? []].flat()
  if (globs.length === 0) return print(output, report, totals)
  const views = await checkViews(site, globs)
  const all = { ...report, problems: [...report.problems, ...views.problems], views }
  return print(output, all, [...totals, viewsText(views)])
}

async function verifyViews(output: Output, site: Site, given: string | true) {
  const globs = given === true ? [site.options.views ?? []].flat() : [given]
  if (globs.length === 0) throw new UsageError('--views requires a glob, or the option views')
  const report = await checkViews(site, globs)
  if (report.files > 0) return print(output, report, [viewsText(report)])
  throw new UsageError(`--views: no file in ${site.root} matches ${globs.join(', ')}`)
}

function viewsText({ files, names }: ViewsReport): string {
  return `${count(names, 'name')} in ${count(files, 'view')}`
}

function copiesText({ copies, unread }: { readonly copies: number; readonly unread: number }) {
  const total = `${copies.toLocaleString('en')} ${copies === 1 ? 'copy' : 'copies'}`
  const isUnread = `${unread} not read, as Node ${process.versions.node} lacks the coding`
  return unread > 0 ? `${total} (${isUnread})` : total
}

/** @param directory put before the paths */
function print(
  output: Output,
  report: { readonly problems: readonly VerifyProblem[] },
  totals: readonly string[],
  directory = ''
): number {
  const { problems } = report
  for (const { path, message } of output.isJson ? [] : problems) {
    output.error(`${printable(join(directory, path))} ${message}`)
  }
  const verdict = problems.length === 0 ? 'no problems' : count(problems.length, 'problem')
  output.result(report, [...totals, verdict].join(', '))
  return problems.length === 0 ? OK : FAILED
}
