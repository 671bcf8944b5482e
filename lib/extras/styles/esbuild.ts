// Loads esbuild, and has what minifying, lowering and joining share.
import { basename, extname } from 'node:path'
import type * as Esbuild from 'esbuild'
import { loadPeer } from '../../publishing/compilers/built-in.ts'
import type { TransformedText } from '../../runtime/app/parts.ts'
import { reasonOf } from '../../runtime/errors.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

/** @throws AssetError with the install command where it is not installed */
export async function loadEsbuild(purpose: string, root: string): Promise<typeof Esbuild> {
  return (await loadPeer(['esbuild'], purpose, root)) as typeof Esbuild
}

/** Resolves to the reason where it cannot be loaded. */
export function esbuildOrReason(purpose: string, root: string): Promise<typeof Esbuild | string> {
  return loadEsbuild(purpose, root).catch(reasonOf)
}

export const isSheet = (name: string) => extname(name).toLowerCase() === '.css'

/** No output format is set, so a classic script keeps its global names. */
export const optionsFor = ({ name, file }: TransformedText) =>
  ({
    loader: isSheet(name) ? 'css' : 'js',
    sourcefile: basename(file),
    legalComments: 'inline',
    charset: 'utf8'
  }) as const

/** The source map at the end of a text. */
export const INLINE_MAP =
  /\n?\/[/*][#@] sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,(?<data>[\w+/]+={0,2})\s*(?:\*\/)?\s*$/

/** Returns the JSON of that map. */
export function inlineMapOf(code: string): string | undefined {
  const data = INLINE_MAP.exec(code)?.groups?.['data']
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString()
}

/** Returns a stylesheet with this map at its end. */
export function withInlineMap(css: string, json: string): string {
  const url = `data:application/json;base64,${Buffer.from(json).toString('base64')}`
  return `${css.replace(INLINE_MAP, '')}\n/*# sourceMappingURL=${url} */\n`
}

/** Returns a place for messages; both numbers begin with 1. */
export function placeOf(root: string, file: string, line?: number, column?: number): string {
  return [pathFrom(root, file), line, line && column].filter(Boolean).join(':')
}

const each = (names: string) => Object.fromEntries(names.split(' ').map(name => [name, true]))

/**
 * Syntax that stays as it is written, whatever the target. In its place esbuild would write no module, a wrong request,
 * or colors that older browsers do not know either.
 */
export const KEPT = each(
  'dynamic-import gradient-interpolation import-assertions import-attributes import-meta'
)

/** These cannot be lowered: where the target lacks them, they are errors. */
export const LEFT = {
  ...KEPT,
  ...each(
    'arbitrary-module-namespace-names array-spread arrow class const-and-let default-argument'
  ),
  ...each(
    'destructuring for-of generator new-target object-extensions rest-argument top-level-await'
  )
}
