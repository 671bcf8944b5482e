// The `clean` command.
import { AGE, clean as prune, KEEP } from '../../assets/building/clean.ts'
import { secondsOf } from '../../options.ts'
import { OK, UsageError, type Call, type Command } from '../command.ts'
import { count, formatBytes } from '../format.ts'

export const clean: Command = {
  name: 'clean',
  summary: 'remove files that earlier deployments left behind',
  about: `Removes old fingerprinted files, their compressed copies, and the deltas from and to
them. A file is removed when the manifest does not name it, it is not among the
newest ${KEEP} (--keep) of its name, and no manifest has named it for 7 days (--age).
Its age is counted from its ctime, so a copied file is new, whatever its mtime says.
A file whose bytes do not match the digest in its name was not written by precompile
and is kept.

Run it some time after a deployment, when no page of the old version is open.`,
  options: {
    keep: {
      type: 'string',
      value: 'N',
      description: `versions of each name to keep; default: ${KEEP}`
    },
    age: {
      type: 'string',
      value: 'D',
      description: 'keep files younger than this: 12h, 1d, 2w; default: 7d'
    },
    'dry-run': { type: 'boolean', description: 'list what would be removed, and remove nothing' }
  },
  examples: [
    ['koa-fresh-assets clean --dry-run', 'Look first:'],
    ['koa-fresh-assets clean --keep 2 --age 1d', "Keep two versions, and the last day's files:"]
  ],
  run
}

async function run({ output, loadOptions, values }: Call): Promise<number> {
  const keep = readCount(values.text('keep') ?? String(KEEP))
  const age = readAge(values.text('age') ?? AGE)
  const report = await prune(await loadOptions(), { keep, age, dryRun: values.flag('dry-run') })
  const { removed, bytes, kept, dryRun } = report
  const verb = dryRun ? 'would be removed' : 'removed'
  const total = `${count(removed.length, 'file')} ${verb}, ${formatBytes(bytes)}; ${kept} kept`
  output.result(report, [...removed, total].join('\n'))
  return OK
}

function readCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new UsageError(`--keep must be a whole number such as 3, got '${text}'`)
}

function readAge(text: string): number {
  const seconds = secondsOf(text)
  if (seconds !== undefined) return seconds
  throw new UsageError(`--age must be a number and a unit such as 12h, 1d or 2w, got '${text}'`)
}
