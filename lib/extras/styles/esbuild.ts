// Loads esbuild, and reads and writes the source maps in its texts.
import type * as Esbuild from 'esbuild'
import { loadPeer } from '../../publishing/compilers/built-in.ts'
import { reasonOf } from '../../runtime/errors.ts'

/** @throws AssetError with the install command where it is not installed */
export async function loadEsbuild(purpose: string, root: string): Promise<typeof Esbuild> {
  return (await loadPeer(['esbuild'], purpose, root)) as typeof Esbuild
}

/** Resolves to the reason where it cannot be loaded. */
export function esbuildOrReason(purpose: string, root: string): Promise<typeof Esbuild | string> {
  return loadEsbuild(purpose, root).catch(reasonOf)
}

/** The source map at the end of a text. */
export const INLINE_MAP =
  /\n?\/[/*][#@] sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,(?<data>[\w+/]+={0,2})\s*(?:\*\/)?\s*$/

/** Returns the JSON of that map. */
export function inlineMapOf(code: string): string | undefined {
  const data = INLINE_MAP.exec(code)?.groups?.['data']
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString()
}

/** Returns a stylesheet with this map at its end. */
export function withInlineMap(css: string, map: object): string {
  const json = JSON.stringify(map)
  const url = `data:application/json;base64,${Buffer.from(json).toString('base64')}`
  return `${css.replace(INLINE_MAP, '')}\n/*# sourceMappingURL=${url} */\n`
}
