// Some specs run in both lanes: with few cases in `npm test`, with all of them in `npm run lane soak`,
// whose configuration sets SOAK. With SOAK=0.1 there are a tenth of them; `npm run test:all` has hardly more cases than
// `npm test`, but one way more.
import { test, type Implementation } from './test.ts'

const { SOAK } = process.env
const isSoak = SOAK !== undefined

/** The number of cases, rounds or requests of this lane. Of all cases there is a tenth only where they can be counted. */
export function cases(quick: number, soak: number): number {
  if (!Number.isFinite(soak)) throw new RangeError(`${soak} cases: say how many there are`)
  return isSoak ? Math.ceil(quick + (soak - quick) * Number(SOAK)) : quick
}

/** A spec that `npm test` leaves out: others of its file show there that what it is about works. */
export function soakTest(title: string, implementation: Implementation<[]>): void {
  if (isSoak) test.serial(title, implementation)
}
