// The `clean` command.
import { AGE, clean as prune, KEEP } from '../../assets/building/clean.ts'
import { cleanKept } from '../../extras/releases/keep.ts'
import { secondsOf } from '../../check-options.ts'
import { directoryAt, OK, UsageError } from '../command.ts'
import type { Command, Values } from '../../assets/parts.ts'
import { count, formatBytes } from '../format.ts'

/** Shared by every command that keeps earlier files. */
export const LIMIT_OPTIONS = {
  keep: {
    value: 'N',
    description: `how many versions or earlier builds to keep; default: ${KEEP}`
  },
  age: { value: 'D', description: `keep what is younger than this: 12h, 1d, 2w; default: ${AGE}` },
  manifest: {
    value: 'FILE',
    description: "the bundler's manifest in a build, if it has an unusual name"
  }
} as const

export const clean: Command = {
  name: 'clean',
  summary: 'remove files that earlier deployments left behind',
  argument: '[dir]',
  about: `Removes old fingerprinted files and their compressed copies. A file is removed
when the manifest does not name it, it is not among the newest ${KEEP} (--keep) of its
name, and no manifest has named it for 7 days (--age).
Its age is counted from its ctime, so a copied file is new, whatever its mtime says.
A file whose bytes do not match the digest in its name was not written by precompile
and is kept.

With a directory, a bundler's build, it removes the files that 'keep' brought
into it: those of builds that are not among the last ${KEEP} (--keep), and were replaced
more than 7 days (--age) ago. No configuration is needed for that.

Run it some time after a deployment, when no page of the old version is open.`,
  options: {
    ...LIMIT_OPTIONS,
    'dry-run': { description: 'list what would be removed, and remove nothing' }
  },
  examples: [
    ['koa-fresh-assets clean --dry-run', 'Look first:'],
    ['koa-fresh-assets clean --keep 2 --age 1d', "Keep two versions, and the last day's files:"],
    ['koa-fresh-assets clean dist', "What 'keep' brought into a build of Vite:"]
  ],
  async run({ output, loadSite, values, extras, args: [directory] }) {
    const { manifest, 'dry-run': dryRun } = values
    if (manifest !== undefined && directory === undefined) {
      throw new UsageError("--manifest is for a bundler's build: clean <dir> --manifest FILE")
    }
    const limits = { ...limitsIn(values), dryRun }
    const report =
      directory === undefined
        ? await prune(await loadSite('deployment'), limits)
        : await cleanKept(directoryAt(values, directory), { ...limits, manifest }, extras)
    const { removed, bytes, kept } = report
    const verb = dryRun ? 'would be removed' : 'removed'
    const total = `${count(removed.length, 'file')} ${verb}, ${formatBytes(bytes)}; ${kept} kept`
    output.result(report, [...removed, total].join('\n'))
    return OK
  }
}

export function limitsIn({ keep = String(KEEP), age = AGE }: Values) {
  if (!/^\d{1,9}$/.test(keep)) {
    throw new UsageError(`--keep must be a whole number such as 3, got '${keep}'`)
  }
  const seconds = secondsOf(age)
  if (seconds !== undefined) return { keep: Number(keep), age: seconds }
  throw new UsageError(`--age must be a number and a unit such as 12h, 1d or 2w, got '${age}'`)
}
