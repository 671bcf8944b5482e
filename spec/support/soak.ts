// Some specs run in both lanes: with few cases in `npm test`, with all of them in `npm run test:soak`,
// whose configuration sets SOAK.

/** The number of cases, rounds or requests of this lane. */
export function cases(quick: number, soak: number): number {
  return process.env['SOAK'] === undefined ? quick : soak
}
