// The `verify` command.
import { verify as compare, verifyCopies } from './verify.ts'
import type { Output } from '../../runtime/app/command-line.ts'
import type { Command, Project } from '../../runtime/app/parts.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { directoryAt, printProblems } from '../../publishing/cli/command.ts'
import { projectOf } from '../../publishing/cli/config.ts'
import { count } from '../../publishing/cli/format.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'check public and mounts, or the compressed copies in a directory',
  argument: '[dir]',
  about: `Reads every file that the manifest names and checks that it exists, that
its size, the digest in its name and its Subresource Integrity are correct, that the
plain name has the same content, and that the compressed copies decompress to it.
For each mount it checks that the files that its manifest names exist, and the
compressed copies. Prints a line for each problem, and writes nothing.

With a directory, such as one that 'compress' was run on, it only checks that: the
compressed copies in it, whether each has an original and decompresses to it.
This needs no configuration. A .gz without an original is taken for an archive,
unless a .br or .zst is beside it.

Run it after copying files to another machine, or when a page looks wrong.
'precompile' and 'compress' fix what it finds.

In a directory with a bundler's manifest it also checks that the files that the
manifest names exist, and that those that 'keep' copied, and their list, are intact.

Deltas (.dcz) are checked as well: each has to be intact, and to start from a file
that exists.`,
  options: {},
  examples: [
    ['koa-fresh-assets verify', 'Fail a deployment when a file was lost on the way:'],
    ['koa-fresh-assets verify dist', 'The same for a directory with compressed copies:']
  ],
  async run(call) {
    const { output, values, args } = call
    const [directory] = args
    if (directory === undefined) return verifyPublic(output, await projectOf(call))
    const report = await verifyCopies(directoryAt(values, directory))
    const { files } = report
    const named = files === undefined ? [] : [`${count(files, 'file')} of the build`]
    return printProblems(output, report, [...named, copiesText(report)], { directory })
  }
}

async function verifyPublic(output: Output, project: Project): Promise<number> {
  const report = await compare(project)
  const { assets, mounts } = report
  const totals = [
    ...(assets > 0 || !mounts ? [count(assets, 'asset')] : []),
    ...(mounts
      ? [`${count(mounts.files, 'file')} of builds`, `${copiesText(mounts)} in mounts`]
      : [])
  ]
  const checked = await inParallel(project.extras, 1, async extra => extra.views?.check(project))
  const checks = checked.filter(check => check !== undefined)
  for (const doubt of checks.flatMap(({ doubts }) => doubts)) output.warn(doubt)
  const problems = [report, ...checks].flatMap(each => each.problems)
  const all: typeof report = Object.assign(
    { ...report, problems },
    ...checks.map(each => each.report)
  )
  const help = report.problems.length > 0 ? undefined : checks[0]?.help
  return printProblems(output, all, [...totals, ...checks.map(({ total }) => total)], { help })
}

function copiesText({ copies, unread }: { readonly copies: number; readonly unread: number }) {
  const total = `${copies.toLocaleString('en')} ${copies === 1 ? 'copy' : 'copies'}`
  const isUnread = `${unread} not read, as Node ${process.versions.node} lacks the coding`
  return unread > 0 ? `${total} (${isUnread})` : total
}
