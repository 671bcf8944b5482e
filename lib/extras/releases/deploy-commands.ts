// Declares the commands for what was deployed: `verify` and `clean`.
import { AGE, clean as prune, cleanKept, KEEP, type CleanReport } from './clean.ts'
import { verifyCopies, type CheckedCopies } from './copies.ts'
import { verify as compare } from './verify.ts'
import { secondsOf } from '../../runtime/check-options.ts'
import { firstAnswer } from '../../runtime/concurrency.ts'
import {
  directoryAt,
  printProblems,
  UsageError,
  count,
  formatBytes
} from '../../publishing/cli/command.ts'
import type { Output, Values, Command, Project } from '../../runtime/app/extra.ts'
import { projectOf } from '../../publishing/cli/config.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'check public and mounts, or the compressed copies in a directory',
  argument: '[dir]',
  about: `Checks that every file that the manifest names is there and intact: its size, the
digest in its name, its integrity, the plain name, compressed copies and deltas; and
for each mount the files that its manifest names. Writes nothing.

With a directory, it only checks that, without a configuration: that each copy has
an original and decompresses to it, that the files of a bundler's manifest exist,
and that what 'keep' copied is intact.

Run it after copying files to another machine, or when a page looks wrong.
'precompile' and 'compress' fix what it finds.`,
  examples: [
    ['koa-fresh-assets verify', 'Fail a deployment when a file was lost on the way:'],
    ['koa-fresh-assets verify dist', 'The same for a directory with compressed copies:']
  ],
  async run(call) {
    const { output, values, args } = call
    const [directory] = args
    if (directory === undefined) return verifyPublic(output, await projectOf(call))
    const report = await verifyCopies(directoryAt(values, directory))
    const named = report.files === undefined ? [] : [`${count(report.files, 'file')} of the build`]
    return printProblems(output, report, [...named, copiesText(report)], { directory })
  }
}

async function verifyPublic(output: Output, project: Project): Promise<number> {
  const report = await compare(project)
  const { assets, mounts } = report
  const totals = assets > 0 || !mounts ? [count(assets, 'asset')] : []
  if (mounts)
    totals.push(`${count(mounts.files, 'file')} of builds`, `${copiesText(mounts)} in mounts`)
  const views = await firstAnswer(project.extras, extra => extra.views?.check(project))
  if (!views) return printProblems(output, report, totals)
  for (const doubt of views.doubts) output.warn(doubt)
  const help = report.problems.length > 0 ? undefined : views.help
  const all = { ...report, problems: [...report.problems, ...views.problems], ...views.report }
  return printProblems(output, all, [...totals, views.total], { help })
}

function copiesText({ copies, unread }: Omit<CheckedCopies, 'problems'>): string {
  const total = `${copies.toLocaleString('en')} ${copies === 1 ? 'copy' : 'copies'}`
  const isUnread = `${unread} not read, as Node ${process.versions.node} lacks the coding`
  return unread > 0 ? `${total} (${isUnread})` : total
}

export const LIMIT_OPTIONS = {
  keep: { value: 'N', description: `versions or earlier builds to keep; default: ${KEEP}` },
  age: { value: 'D', description: `keep what is younger than this: 12h, 1d, 2w; default: ${AGE}` }
} as const

export const MANIFEST = {
  value: 'FILE',
  description: "the bundler's manifest in a build, if it has an unusual name"
} as const

export const clean: Command = {
  name: 'clean',
  summary: 'remove files that earlier deployments left behind',
  argument: '[dir]',
  about: `Removes old fingerprinted files, with their compressed copies and deltas: those that
the manifest does not name, that are not among the newest ${KEEP} (--keep) of their name,
and that no manifest has named for 7 days (--age). Ages are counted from the ctime.
A file whose bytes do not match the digest in its name is kept. Run it some time
after a deployment, when no page of the old version is open.

With a directory, a bundler's build, it removes the files that 'keep' copied into
it, by the same limits for builds, and needs no configuration.`,
  options: {
    ...LIMIT_OPTIONS,
    'dry-run': { description: 'list what would be removed, and remove nothing' },
    manifest: MANIFEST
  },
  examples: [
    ['koa-fresh-assets clean --dry-run', 'Look first:'],
    ['koa-fresh-assets clean --keep 2 --age 1d', "Keep two versions, and the last day's files:"],
    ['koa-fresh-assets clean dist', "What 'keep' copied into a Vite build:"]
  ],
  run: async ({ output, loadProject, values, args: [directory] }) => {
    const { manifest, 'dry-run': dryRun } = values
    const options = { ...limitsIn(values), dryRun }
    if (directory !== undefined)
      return report(output, cleanKept(directoryAt(values, directory), { ...options, manifest }))
    if (manifest === undefined)
      return report(output, prune(await loadProject('deployment'), options))
    throw new UsageError("--manifest is for a bundler's build: clean <dir> --manifest FILE")
  }
}

async function report(output: Output, cleaning: Promise<CleanReport>): Promise<number> {
  const done = await cleaning
  const { removed, bytes, kept, dryRun } = done
  const verb = dryRun ? 'would be removed' : 'removed'
  const total = `${count(removed.length, 'file')} ${verb}, ${formatBytes(bytes)}; ${kept} kept`
  return output.result(done, [...removed, total].join('\n'))
}

export function limitsIn({ keep = String(KEEP), age = AGE }: Values) {
  if (!/^\d{1,9}$/.test(keep))
    throw new UsageError(`--keep must be a whole number such as 3, got '${keep}'`)
  const seconds = secondsOf(age)
  if (seconds !== undefined) return { keep: Number(keep), age: seconds }
  throw new UsageError(`--age must be a number and a unit such as 12h, 1d or 2w, got '${age}'`)
}
