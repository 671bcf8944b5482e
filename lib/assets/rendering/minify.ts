// Minifies stylesheets and scripts for production, with source maps that point to the original source.
//
// A source is minified before its references get their URLs, so esbuild reports errors at their place
// in the source. URLs that are inserted later shift what follows them; final-bytes.ts shifts the map
// too (shift-map.ts).
import { isUtf8 } from 'node:buffer'
import { basename, relative } from 'node:path'
import type * as Esbuild from 'esbuild'
import { CompileError } from '../../errors.ts'
import { readContent } from '../../files/open-file.ts'
import { withRelativeSources } from '../compilers/compiler.ts'
import { asCompileError } from '../compilers/esbuild.ts'
import { loadPeer } from '../compilers/built-in.ts'
import type { AppSettings } from '../settings/app-settings.ts'
import type { Asset } from '../sources/sources.ts'
import { textOf, textType, type Draft } from './draft.ts'
import { replaceReferences } from '../references/references.ts'
import type { Renderer } from './renderer.ts'

/** @throws CompileError for a source that is not valid CSS or JavaScript */
export type Minify = (renderer: Renderer, asset: Asset, drafted: Draft) => Promise<Draft>

/** What was minified, in bytes without source maps. */
export interface MinifyReport {
  readonly files: number
  readonly bytes: number
  readonly insteadOf: number
  /** Why nothing was: esbuild cannot be loaded. */
  readonly problem?: string
}

/** Stylesheets and scripts, unless their name shows that they are minified already. */
export function isMinifiable(name: string): boolean {
  return textType(name) !== undefined && !/\.min\.\w+$/i.test(name)
}

/**
 * @param root the project's root; esbuild is loaded from there first
 * @param isAsked whether the app asks for it, so that a source that cannot be minified is an error
 * @param warn receives the warnings of esbuild, each with its place
 * @throws AssetError when esbuild is not installed
 */
export async function loadMinifier(
  root: string,
  isAsked: (app: AppSettings) => boolean,
  warn: (message: string) => void
): Promise<{ readonly minify: Minify; readonly report: MinifyReport }> {
  const esbuild = (await loadPeer(['esbuild'], 'minifying', root)) as typeof Esbuild
  const report = { files: 0, bytes: 0, insteadOf: 0 }
  const minify: Minify = async (renderer, asset, drafted) => {
    const bytes = await readContent(drafted.content)
    // Other encodings stay as they are.
    if (bytes.length === 0 || !isUtf8(bytes)) return drafted
    const code = await withInlineMap(renderer, asset, drafted, new TextDecoder().decode(bytes))
    const result = await transform(esbuild, asset, code).catch((error: unknown) => {
      if (isAsked(asset.app) || !(error instanceof CompileError)) throw error
      const { file, line, column } = error.location
      const place = [relative(root, file), line, line && column].filter(Boolean).join(':')
      warn(`${place}: ${error.reason}; it is published as it is`)
      return undefined
    })
    if (!result) return (await renderer.draft(asset)) ?? drafted
    for (const warning of result.warnings) warn(warningOf(root, asset, warning))
    report.files++
    report.bytes += Buffer.byteLength(result.code)
    report.insteadOf += Buffer.byteLength(code.replace(INLINE_MAP, ''))
    return {
      ...drafted,
      content: Buffer.from(result.code),
      text: await textOf(asset, result.code, drafted.text?.dependencies ?? []),
      map: withRelativeSources(result.map, asset.source.file)
    }
  }
  return { minify, report }
}

const INLINE_MAP = /\n?\/[/*]# sourceMappingURL=data:[^]*$/

/** No output format is set, so a classic script keeps its global names. */
async function transform(esbuild: typeof Esbuild, { name, source }: Asset, code: string) {
  try {
    return await esbuild.transform(code, {
      loader: textType(name) ?? 'js',
      minify: true,
      sourcemap: 'external',
      sourcesContent: true,
      sourcefile: basename(source.file),
      legalComments: 'inline',
      charset: 'utf8'
    })
  } catch (error) {
    const failure = asCompileError(error, source.file)
    if (!source.compiler || !(failure instanceof CompileError)) throw failure
    // The line is one of the compiled text, which is not written anywhere.
    const reason = `its compiled output cannot be minified: ${failure.reason}`
    throw new CompileError(reason, { file: source.file }, { cause: error })
  }
}

/** The text with its linked source map inline, which is the only form that esbuild continues. */
async function withInlineMap(
  renderer: Renderer,
  asset: Asset,
  { text }: Draft,
  code: string
): Promise<string> {
  const linked = text?.references.findLast(({ kind }) => kind === 'source-map')
  const found = text && linked && (await renderer.resolve(asset, text, linked))
  const map = found && found !== 'elsewhere' && (await renderer.draft(found))
  if (!linked || !map) return code
  const data = Buffer.from(await readContent(map.content)).toString('base64')
  const url = `data:application/json;base64,${data}`
  return replaceReferences(code, [{ ...linked, suffix: '' }], [url])
}

function warningOf(root: string, { source }: Asset, { text, location }: Esbuild.Message): string {
  const file = relative(root, source.file)
  if (!location || source.compiler) return `${file}: ${text}`
  return `${file}:${location.line}:${location.column + 1}: ${text}`
}
