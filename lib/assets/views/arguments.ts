/** The arguments of helpers that take one or more names. */

import { checkString } from './asset-url.ts'

type Names = readonly [name: string, ...names: string[]]

/** One or more names, then options that apply to all of them. */
export type NamesThen<Options> = Names | readonly [...names: Names, options: Options | undefined]

/** @throws {TypeError} without a name, and for a name that is not a string */
export function splitArguments<Options extends object>(
  helper: string,
  args: NamesThen<Options>
): { names: readonly string[]; options: Options | undefined } {
  const last = args.at(-1)
  const [names, options] = typeof last === 'string' ? [args] : [args.slice(0, -1), last]
  if (names.length === 0) throw new TypeError(`${helper}() needs the name of an asset`)
  return { names: names.map(checkString), options }
}
