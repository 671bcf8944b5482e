import { canMakeDeltas } from '../../../lib/extras/deltas/delta-format.ts'

export const isAble = await canMakeDeltas()
