// Adds directories of builds to the commands that check and remove files.
import { KEEP } from './clean.ts'
import type { Addition } from '../../assets/parts.ts'
import { directoryAt, UsageError } from '../../cli/command.ts'
import { limitsIn, report } from './clean-command.ts'
import { cleanKept } from './keep.ts'

export const MANIFEST = {
  value: 'FILE',
  description: "the bundler's manifest in a build, if it has an unusual name"
} as const

export const additions: readonly Addition[] = [
  {
    to: 'verify',
    about: `In a directory with a bundler's manifest it also checks that the files that the
manifest names exist, and that those that 'keep' copied, and their list, are intact.`
  },
  {
    to: 'clean',
    argument: '[dir]',
    about: `With a directory, a bundler's build, it removes the files that 'keep' copied
into it: those of builds that are not among the last ${KEEP} (--keep), and were replaced
more than 7 days (--age) ago. No configuration is needed for that.`,
    options: { manifest: MANIFEST },
    examples: [['koa-fresh-assets clean dist', "What 'keep' copied into a Vite build:"]],
    run({ output, values, args: [directory], extras }) {
      const { manifest, 'dry-run': dryRun } = values
      if (directory === undefined) {
        if (manifest === undefined) return undefined
        throw new UsageError("--manifest is for a bundler's build: clean <dir> --manifest FILE")
      }
      const options = { ...limitsIn(values), dryRun, manifest }
      return report(output, cleanKept(directoryAt(values, directory), options, extras))
    }
  }
]
