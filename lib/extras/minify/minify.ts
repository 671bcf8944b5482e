// Minifies stylesheets and scripts for production, with source maps that point to the original source.
//
// A source is minified before its references get their URLs, so esbuild reports errors at their place
// in the source.
import { basename, extname } from 'node:path'
import type * as Esbuild from 'esbuild'
import { asCompileError } from '../../publishing/compilers/esbuild.ts'
import { withRelativeSources } from '../../publishing/compilers/compiler.ts'
import { loadPeer } from '../../publishing/compilers/built-in.ts'
import type { Project, Transform, TransformedText } from '../../runtime/app/parts.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { CompileError, reasonOf } from '../../runtime/errors.ts'
import type { MinifyReport, PrecompileMinifyOptions } from './options.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { keepingColors } from './colors.ts'
import { LEFT } from './syntax.ts'
import { importRules, importsTwice } from './import-rules.ts'

/**
 * @param warn receives the warnings of esbuild, each with its place
 * @throws AssetError when an app asks for it and esbuild is not installed
 */
export async function minifier(
  { root, apps }: Project,
  { minify }: PrecompileMinifyOptions,
  warn: (message: string) => void
): Promise<Transform | undefined> {
  const wish = (app: AppSettings) => minify ?? app.minify
  const minifies = (app: AppSettings) => wish(app) !== false
  if (!apps.some(minifies)) return undefined
  try {
    const esbuild = (await loadPeer(['esbuild'], 'minifying', root)) as typeof Esbuild
    return minifierBy(esbuild, { root, wish, warn })
  } catch (error) {
    if (apps.some(app => wish(app) === true)) throw error
    const minified: MinifyReport = { files: 0, bytes: 0, insteadOf: 0, problem: reasonOf(error) }
    return {
      minifies,
      takes: () => false,
      apply: async () => undefined,
      report: async () => ({ minified })
    }
  }
}

interface Use {
  readonly root: string
  /** If true, a source that cannot be minified is an error. */
  readonly wish: (app: AppSettings) => boolean | undefined
  readonly warn: (message: string) => void
}

function minifierBy(esbuild: typeof Esbuild, { root, wish, warn }: Use): Transform {
  const minified = { files: 0, bytes: 0, insteadOf: 0 }
  const minifies = (app: AppSettings) => wish(app) !== false
  return {
    minifies,
    // The name of a minified file shows it.
    takes: (app, name) => minifies(app) && !/\.min\.\w+$/i.test(name),
    async apply(text) {
      if (isSheet(text.name) && importsTwice(importRules(text.code))) return undefined
      const result = await transform(esbuild, text).catch((error: unknown) => {
        if (wish(text.app) || !(error instanceof CompileError)) throw error
        const { file, line, column } = error.location
        const place = [pathFrom(root, file), line, line && column].filter(Boolean).join(':')
        warn(`${place}: ${error.reason}; it is published as it is`)
        return undefined
      })
      if (!result) return undefined
      for (const warning of result.warnings) warn(warningOf(root, text, warning))
      minified.files++
      minified.bytes += Buffer.byteLength(result.code)
      minified.insteadOf += Buffer.byteLength(text.code.replace(INLINE_MAP, ''))
      return { code: result.code, map: withRelativeSources(result.map, text.file) }
    },
    report: async () => ({ minified })
  }
}

const INLINE_MAP = /\n?\/[/*]# sourceMappingURL=data:[^]*$/

const isSheet = (name: string) => extname(name).toLowerCase() === '.css'

/** No output format is set, so a classic script keeps its global names. */
async function transform(
  esbuild: typeof Esbuild,
  { name, file, code, isCompiled, target }: TransformedText
) {
  const isCss = isSheet(name)
  const minify = (text: string) =>
    esbuild.transform(text, {
      loader: isCss ? 'css' : 'js',
      minify: true,
      ...(target && { target: [...target], supported: LEFT }),
      sourcemap: 'external',
      sourcesContent: true,
      sourcefile: basename(file),
      legalComments: 'inline',
      charset: 'utf8'
    })
  try {
    return isCss ? await keepingColors(code, minify) : await minify(code)
  } catch (error) {
    const failure = asCompileError(error, file)
    if (!isCompiled || !(failure instanceof CompileError)) throw failure
    // The line belongs to the compiled text, which is not written anywhere.
    const reason = `its compiled output cannot be minified: ${failure.reason}`
    throw new CompileError(reason, { file }, { cause: error })
  }
}

function warningOf(
  root: string,
  { file, isCompiled }: TransformedText,
  { text, location }: Esbuild.Message
): string {
  const path = pathFrom(root, file)
  if (!location || isCompiled) return `${path}: ${text}`
  return `${path}:${location.line}:${location.column + 1}: ${text}`
}
