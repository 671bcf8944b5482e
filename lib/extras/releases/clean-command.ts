// The `clean` command.
import { AGE, clean as prune, KEEP, type CleanReport } from './clean.ts'
import { secondsOf } from '../../check-options.ts'
import { OK, UsageError } from '../../cli/command.ts'
import type { Output, Values } from '../../command-line.ts'
import type { Command } from '../../assets/parts.ts'
import { count, formatBytes } from '../../cli/format.ts'

/** Every command that keeps earlier files has these options. */
export const LIMIT_OPTIONS = {
  keep: {
    value: 'N',
    description: `how many versions or earlier builds to keep; default: ${KEEP}`
  },
  age: { value: 'D', description: `keep what is younger than this: 12h, 1d, 2w; default: ${AGE}` }
} as const

export const clean: Command = {
  name: 'clean',
  summary: 'remove files that earlier deployments left behind',
  about: `Removes old fingerprinted files and their compressed copies. A file is removed
when the manifest does not name it, it is not among the newest ${KEEP} (--keep) of its
name, and no manifest has named it for 7 days (--age).
Its age is counted from its ctime, so a copied file is new, whatever its mtime says.
A file whose bytes do not match the digest in its name was not written by precompile
and is kept.

Run it some time after a deployment, when no page of the old version is open.`,
  options: {
    ...LIMIT_OPTIONS,
    'dry-run': { description: 'list what would be removed, and remove nothing' }
  },
  examples: [
    ['koa-fresh-assets clean --dry-run', 'Look first:'],
    ['koa-fresh-assets clean --keep 2 --age 1d', "Keep two versions, and the last day's files:"]
  ],
  run: async ({ output, loadSite, values }) => {
    const options = { ...limitsIn(values), dryRun: values['dry-run'] }
    return report(output, prune(await loadSite('deployment'), options))
  }
}

/** @returns the exit status */
export async function report(output: Output, cleaning: Promise<CleanReport>): Promise<number> {
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
