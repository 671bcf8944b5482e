// The command `clean`.
import { AGE_SECONDS, clean as prune, KEEP } from '../../assets/clean.ts'
import { FINE, UsageError, type Call, type Command } from '../command.ts'
import { count, formatBytes } from '../format.ts'

export const clean: Command = {
  name: 'clean',
  summary: 'remove what earlier deploys left behind',
  about: `Removes old fingerprinted files with their compressed copies. A file goes when all
of this holds: the manifest does not name it, it is not among the newest ${KEEP}
(--keep) of its name, and it is older than 7 days (--age), by its mtime, which is
that of the source it was made from. A file whose bytes do not have the checksum
in its name was not made by precompile, and stays, like everything else.

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
  const age = readAge(values.text('age') ?? `${AGE_SECONDS}s`)
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

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

function readAge(text: string): number {
  const [, number, unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  if (number !== undefined) return Number(number) * (SECONDS[unit] ?? 1)
  throw new UsageError(`--age must be a number and a unit such as 12h, 1d or 2w, got '${text}'`)
}
