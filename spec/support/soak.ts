// Some specs run twice: in `npm test` with few cases, in `npm run test:soak` with as many as the claim is for.

/** How many cases, rounds or requests. */
export function cases(quick: number, soak: number): number {
  return process.env['SOAK'] === undefined ? quick : soak
}
