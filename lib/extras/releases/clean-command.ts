// The `clean` command.
import { AGE, clean as prune, KEEP, type CleanReport } from './clean.ts'
import { secondsOf } from '../../runtime/check-options.ts'
import { directoryAt, OK, UsageError } from '../../publishing/cli/command.ts'
import type { Output, Values } from '../../runtime/app/command-line.ts'
import type { Command } from '../../runtime/app/parts.ts'
import { count, formatBytes } from '../../publishing/cli/format.ts'
import { cleanKept } from './keep.ts'

/** Every command that keeps earlier files has these options. */
export const LIMIT_OPTIONS = {
  keep: {
    value: 'N',
    description: `how many versions or earlier builds to keep; default: ${KEEP}`
  },
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
  about: `Removes old fingerprinted files, their compressed copies, and the deltas (.dcz)
from and to them. A file is removed when the manifest does not name it, it is not
among the newest ${KEEP} (--keep) of its name, and no manifest has named it for 7 days
(--age).
Its age is counted from its ctime, so a copied file is new, whatever its mtime says.
A file whose bytes do not match the digest in its name was not written by precompile
and is kept.

Run it some time after a deployment, when no page of the old version is open.

With a directory, a bundler's build, it removes the files that 'keep' copied
into it: those of builds that are not among the last ${KEEP} (--keep), and were replaced
more than 7 days (--age) ago. No configuration is needed for that.`,
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
    if (directory !== undefined) {
      return report(output, cleanKept(directoryAt(values, directory), { ...options, manifest }))
    }
    if (manifest === undefined)
      return report(output, prune(await loadProject('deployment'), options))
    throw new UsageError("--manifest is for a bundler's build: clean <dir> --manifest FILE")
  }
}

/** @returns the exit status */
async function report(output: Output, cleaning: Promise<CleanReport>): Promise<number> {
  const done = await cleaning
  const { removed, bytes, kept, dryRun } = done
  const verb = dryRun ? 'would be removed' : 'removed'
  const total = `${count(removed.length, 'file')} ${verb}, ${formatBytes(bytes)}; ${kept} kept`
  output.result(done, [...removed, total].join('\n'))
  return OK
}

export function limitsIn({ keep = String(KEEP), age = AGE }: Values) {
  if (!/^\d{1,9}$/.test(keep)) {
    throw new UsageError(`--keep must be a whole number such as 3, got '${keep}'`)
  }
  const seconds = secondsOf(age)
  if (seconds !== undefined) return { keep: Number(keep), age: seconds }
  throw new UsageError(`--age must be a number and a unit such as 12h, 1d or 2w, got '${age}'`)
}
