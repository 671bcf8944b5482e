// Adds deltas to the commands that write, check, remove and list files.
import { directoryAt } from '../../cli/command.ts'
import type { Addition } from '../../assets/parts.ts'

export const additions: readonly Addition[] = [
  {
    to: 'precompile',
    about: `For files that changed it also writes deltas (.dcz) from the versions of earlier
deployments: a browser that has one of these downloads the difference only. This
needs Node 22.19, 24.6 or newer.`
  },
  {
    to: 'compress',
    about: `With --against it also writes deltas (.dcz) from the files of an earlier build to
those of the same name with another hash: a browser that has one of these downloads
the difference only. This needs Node 22.19, 24.6 or newer.`,
    options: { against: { value: 'DIR', description: 'an earlier build, to write deltas' } },
    examples: [
      ['koa-fresh-assets compress dist --against dist.old', 'Deltas from the previous build:']
    ],
    run(call, command) {
      const { against } = call.values as { readonly against?: string }
      if (against === undefined) return undefined
      return command.run({ ...call, added: { against: directoryAt(call.values, against) } })
    }
  },
  {
    to: 'keep',
    about: "It also writes deltas (.dcz) from the old build's files to those of the new one."
  },
  {
    to: 'verify',
    about: `Deltas (.dcz) are checked as well: each has to be intact, and to start from a file
that exists.`
  },
  { to: 'clean', about: 'The deltas (.dcz) from and to these files are removed as well.' },
  { to: 'list', about: 'Where there are deltas from earlier versions, it says what they save.' }
]
