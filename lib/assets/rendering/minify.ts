// Minifies stylesheets and scripts for production, with source maps that point to the original source.
//
// A source is minified before its references get their URLs: the result can then be reused whatever
// the digests of other assets become, and esbuild reports errors at their place in the source. URLs
// that are inserted later shift what follows them; finish-build.ts shifts the map too (shift-map.ts).
import { isUtf8 } from 'node:buffer'
import { basename, dirname, extname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Esbuild from 'esbuild'
import { CompileError } from '../../errors.ts'
import { readContent } from '../../files/content.ts'
import { asCompileError, loadEsbuild } from '../compilers/esbuild.ts'
import type { Load } from '../compilers/peers.ts'
import type { Source } from '../sources/catalog.ts'
import type { Asset } from '../sources/sources.ts'
import type { Draft } from './draft.ts'
import { findReferences, replaceReferences } from './references.ts'
import type { Renderer } from './renderer.ts'

export interface Minified {
  readonly draft: Draft
  /** Warnings of esbuild, each with its place. */
  readonly warnings: readonly string[]
}

/** @throws CompileError for a source that is not valid CSS or JavaScript */
export type Minify = (renderer: Renderer, asset: Asset, drafted: Draft) => Promise<Minified>

/** Stylesheets and scripts, unless their name shows that they are minified already. */
export function isMinifiable(name: string): boolean {
  return /\.(?:css|m?js)$/i.test(name) && !/\.min\.\w+$/i.test(name)
}

/**
 * @param root the project's root; esbuild is loaded from there first
 * @param load a parameter for the specs
 * @throws AssetError when esbuild is not installed
 */
export async function loadMinifier(root: string, load?: Load): Promise<Minify> {
  const esbuild = await loadEsbuild('minifying', root, load)
  return async (renderer, asset, drafted) => {
    const bytes = await readContent(drafted.content)
    // Other encodings stay as they are.
    if (bytes.length === 0 || !isUtf8(bytes)) return { draft: drafted, warnings: [] }
    const { code, inputs, isSettled } = await withInlineMap(renderer, asset, drafted, bytes)
    const result = await transform(esbuild, asset, code)
    const references = findReferences(loaderOf(asset.name), result.code)
    const dependencies = drafted.text?.dependencies ?? []
    const small: Draft = {
      ...drafted,
      content: Buffer.from(result.code),
      text: references.length > 0 ? { code: result.code, references, dependencies } : undefined,
      inputs: [...drafted.inputs, ...inputs],
      isSettled: drafted.isSettled && isSettled,
      map: relativeMap(result.map, asset.source)
    }
    return { draft: small, warnings: result.warnings.map(one => asText(root, asset, one)) }
  }
}

/** No output format is set, so a classic script keeps its global names. */
async function transform(esbuild: typeof Esbuild, { name, source }: Asset, code: string) {
  try {
    return await esbuild.transform(code, {
      loader: loaderOf(name),
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

function loaderOf(name: string): 'css' | 'js' {
  return extname(name).toLowerCase() === '.css' ? 'css' : 'js'
}

/** The text with its linked source map inline, which is the only form that esbuild continues. */
async function withInlineMap(renderer: Renderer, asset: Asset, { text }: Draft, bytes: Uint8Array) {
  const code = new TextDecoder().decode(bytes)
  const linked = text?.references.findLast(({ kind }) => kind === 'source-map')
  if (!text || !linked) return { code, inputs: [], isSettled: true }
  const found = await renderer.resolve(asset, text, linked)
  const map = found && found !== 'elsewhere' ? await renderer.draft(found) : undefined
  // One that appears later would be found.
  if (!found || found === 'elsewhere' || !map) return { code, inputs: [], isSettled: false }
  const data = Buffer.from(await readContent(map.content)).toString('base64')
  const url = `data:application/json;base64,${data}`
  return {
    code: replaceReferences(code, [{ ...linked, suffix: '' }], [url]),
    inputs: map.inputs,
    // A map found elsewhere gives way to one that appears next to the text.
    isSettled: found.source.file === join(dirname(asset.source.file), linked.path)
  }
}

/** Compilers may write absolute paths, which would publish the layout of the build machine. */
function relativeMap(json: string, { file }: Source): string {
  const map = JSON.parse(json) as { sources: string[] }
  const sources = map.sources.map(given => {
    const path = given.startsWith('file:///') ? fileURLToPath(given) : given
    return isAbsolute(path) ? relative(dirname(file), path).split(sep).join('/') : given
  })
  return JSON.stringify({ ...map, sources })
}

function asText(root: string, { source }: Asset, { text, location }: Esbuild.Message): string {
  const file = relative(root, source.file)
  if (!location || source.compiler) return `${file}: ${text}`
  return `${file}:${location.line}:${location.column + 1}: ${text}`
}
