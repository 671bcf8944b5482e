// Minifies stylesheets and scripts for production, with source maps that point to the original source.
//
// A source is minified before its references get their URLs, so esbuild reports errors at their place
// in the source.
import type * as Esbuild from 'esbuild'
import { asCompileError } from '../../publishing/compilers/esbuild.ts'
import { withRelativeSources } from '../../publishing/compilers/compiler.ts'
import type { Project, Transform, TransformedText } from '../../runtime/app/parts.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { CompileError } from '../../runtime/errors.ts'
import { hiddenColors, importRules, importsTwice, shownColors } from './css.ts'
import {
  esbuildOrReason,
  INLINE_MAP,
  isSheet,
  LEFT,
  loadEsbuild,
  optionsFor,
  placeOf
} from './esbuild.ts'
import type { PrecompileStyleOptions } from './options.ts'

/**
 * @param warn receives the warnings of esbuild, each with its place
 * @throws AssetError when an app asks for it and esbuild is not installed
 */
export async function minifier(
  { root, apps }: Project,
  { minify }: PrecompileStyleOptions,
  warn: (message: string) => void
): Promise<Transform | undefined> {
  const wish = (app: AppSettings) => minify ?? app.minify
  const minifies = (app: AppSettings) => wish(app) !== false
  if (!apps.some(minifies)) return undefined
  const isNeeded = apps.some(app => wish(app) === true)
  const esbuild = await (isNeeded ? loadEsbuild : esbuildOrReason)('minifying', root)
  const minified = { files: 0, bytes: 0, insteadOf: 0 }
  if (typeof esbuild === 'string') {
    const report = { minified: { ...minified, problem: esbuild } }
    const apply = async () => undefined
    return { minifies, takes: () => false, apply, report: async () => report }
  }
  return {
    minifies,
    // The name of a minified file shows it.
    takes: (app, name) => minifies(app) && !/\.min\.\w+$/i.test(name),
    async apply(text) {
      const { name, code, file, isCompiled } = text
      if (isSheet(name) && importsTwice(importRules(code))) return undefined
      const result = await transform(esbuild, text).catch((error: unknown) => {
        const failure = failureOf(error, text)
        if (wish(text.app) || !(failure instanceof CompileError)) throw failure
        const { line, column } = failure.location
        warn(`${placeOf(root, file, line, column)}: ${failure.reason}; it is published as it is`)
      })
      if (!result) return undefined
      for (const { text: reason, location } of result.warnings) {
        const { line, column = 0 } = (!isCompiled && location) || {}
        warn(`${placeOf(root, file, line, column + 1)}: ${reason}`)
      }
      minified.files++
      minified.bytes += Buffer.byteLength(result.code)
      minified.insteadOf += Buffer.byteLength(code.replace(INLINE_MAP, ''))
      return { code: result.code, map: withRelativeSources(result.map, file) }
    },
    report: async () => ({ minified })
  }
}

function transform(esbuild: typeof Esbuild, text: TransformedText) {
  const { name, code, target } = text
  const minify = (given: string) =>
    esbuild.transform(given, {
      ...optionsFor(text),
      minify: true,
      ...(target && { target: [...target], supported: LEFT }),
      sourcemap: 'external',
      sourcesContent: true
    })
  return isSheet(name) ? keepingColors(code, minify) : minify(code)
}

function failureOf(error: unknown, { file, isCompiled }: TransformedText): unknown {
  const failure = asCompileError(error, file)
  if (!isCompiled || !(failure instanceof CompileError)) return failure
  // The line belongs to the compiled text, which is not written anywhere.
  const reason = `its compiled output cannot be minified: ${failure.reason}`
  return new CompileError(reason, { file }, { cause: error })
}

async function keepingColors(
  code: string,
  minify: (code: string) => Promise<Esbuild.TransformResult>
): Promise<Esbuild.TransformResult> {
  const hidden = hiddenColors(code)
  if (hidden === code) return minify(code)
  // An error shows the text as it was written.
  const result = await minify(hidden).catch(() => minify(code))
  return {
    ...result,
    code: shownColors(result.code),
    map: shownColors(result.map),
    warnings: result.warnings.map(warning => ({ ...warning, text: shownColors(warning.text) }))
  }
}
