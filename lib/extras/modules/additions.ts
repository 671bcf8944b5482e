// Adds joined modules to the report of the command `precompile`.
import { count, formatBytes } from '../../publishing/cli/format.ts'
import type { Addition } from '../../runtime/app/parts.ts'
import type { JoinRow } from './options.ts'

export const additions: readonly Addition[] = [
  {
    to: 'precompile',
    about: `Modules are joined: those of each npm package, and with
bundle: true those of the application as well, into the ones that nothing imports.
The option bundle: false turns that off.`
  }
]

export function rowsOf({ joined }: JoinRow): (readonly [heading: string, text: string])[] {
  if (!joined) return []
  const { modules, insteadOf, files, bytes } = joined
  const what = `${count(modules, 'module')} of ${formatBytes(insteadOf)}`
  const result = `${what} in ${count(files, 'file')} of ${formatBytes(bytes)}`
  return [['Joined', result]]
}
