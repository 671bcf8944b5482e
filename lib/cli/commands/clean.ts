// The command `clean`.
import { AGE, clean as prune, KEEP } from '../../assets/building/clean.ts'
import { secondsOf } from '../../duration.ts'
import { FINE, UsageError, type Call, type Command } from '../command.ts'
import { count, formatBytes } from '../format.ts'

export const clean: Command = {
  name: 'clean',
  summary: 'remove what earlier deploys left behind',
  about: `Removes old fingerprinted files with their compressed copies. A file goes when all
of this holds: the manifest does not name it, it is not among the newest ${KEEP}
(--keep) of its name, and for 7 days (--age) no manifest has named it, as far as
the disk tells: copying a file there counts, its mtime does not. A file whose
bytes do not have the checksum in its name was not made by precompile, and stays,
like everything else.

Run it some time after a deploy, when no page of the old version is open any more.`,
  options: {
    keep: {
      type: 'string',
      value: 'N',
      says: `versions of each name that stay; ${KEEP} by default`
    },
    age: { type: 'string', value: 'D', says: 'younger ones stay: 12h, 1d, 2w; 7d by default' },
    'dry-run': { type: 'boolean', says: 'tell what would go, and remove nothing' }
  },
  examples: [
    ['koa-fresh-assets clean --dry-run', 'Look first:'],
    ['koa-fresh-assets clean --keep 2 --age 1d', 'Keep two versions, and everything of today:']
  ],
  run
}

async function run({ output, loadOptions, values }: Call): Promise<number> {
  const keep = readCount(values.text('keep') ?? String(KEEP))
  const age = readAge(values.text('age') ?? AGE)
  const report = await prune(await loadOptions(), { keep, age, dryRun: values.flag('dry-run') })
  if (output.isJson) output.json(report)
  const { removed, bytes, kept, dryRun } = report
  for (const path of removed) output.say(path)
  const verb = dryRun ? 'would be removed' : 'removed'
  output.say(`${count(removed.length, 'file')} ${verb}, ${formatBytes(bytes)}; ${kept} kept`)
  return FINE
}

function readCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new UsageError(`--keep must be a whole number of versions such as 3, got '${text}'`)
}

function readAge(text: string): number {
  const seconds = secondsOf(text)
  if (seconds !== undefined) return seconds
  throw new UsageError(`--age must be a number and a unit such as 12h, 1d or 2w, got '${text}'`)
}
