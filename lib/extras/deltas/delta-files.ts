// Makes, checks and reports deltas as files beside those that they lead to.
import { savingsText } from '../../cli/format.ts'
import type { Representations } from '../../assets/parts.ts'
import { faultOfDelta } from './delta-faults.ts'
import { splitDelta } from './delta-format.ts'
import type { DeltaPrecompileRow, DeltaReport } from './options.ts'
import { deltaWriter, writerAgainst } from './write-deltas.ts'

export const deltaFiles: Representations = {
  split: splitDelta,
  faultOf: faultOfDelta,
  ofPublished: deltaWriter,
  ofBuild: (served, { options, earlier = options.against }, unsaved) =>
    writerAgainst(earlier, served, unsaved)
}

export function rowsOf({
  deltas
}: Partial<DeltaPrecompileRow>): readonly (readonly [string, string])[] {
  return deltas ? [['Deltas', textOf(deltas)]] : []
}

/** Says in one line how much deltas save. */
function textOf(deltas: DeltaReport): string {
  if (deltas.isWritable) return deltas.files > 0 ? savingsText(deltas) : 'none that would pay'
  return `none: Node ${process.versions.node} cannot write them; 22.19, 24.6 and newer can`
}
