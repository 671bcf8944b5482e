// Adds deltas to the help and the report of the command `precompile`.
import { savingsText } from '../../publishing/cli/command.ts'
import type { Addition, Rows } from '../../runtime/app/extra.ts'
import type { DeltaPrecompileRow } from './options.ts'

export const additions: readonly Addition[] = [
  {
    to: 'precompile',
    about: `For files that changed it also writes deltas (.dcz) from the versions of earlier
deployments: a browser that has one of these downloads the difference only. This
needs Node 22.19, 24.6 or newer.`
  }
]

export function rows({ deltas }: Partial<DeltaPrecompileRow>): Rows {
  if (!deltas) return []
  const none = `none: Node ${process.versions.node} cannot write them; 22.19, 24.6 and newer can`
  const text = deltas.files > 0 ? savingsText(deltas) : 'none that would pay'
  return [['Deltas', deltas.isWritable ? text : none]]
}
