// Lowers stylesheets and scripts to the syntax of the option `target` in every environment, and minifies them for
// production. Both happen after the compilers and before references are replaced, so esbuild reports errors at their
// place in the source.
import { SourceMap } from 'node:module'
import { basename, dirname, resolve } from 'node:path'
import type * as Esbuild from 'esbuild'
import { loadPeer } from '../../publishing/compilers/built-in.ts'
import { asCompileError } from '../../publishing/compilers/esbuild.ts'
import { inlineMap, withRelativeSources } from '../../publishing/compilers/compiler.ts'
import { textType } from '../../publishing/rendering/draft.ts'
import { takeInlineMap } from '../../publishing/rendering/source-map.ts'
import type { Project } from '../../runtime/app/extra.ts'
import type { Transform, TransformedText } from '../../runtime/app/transform.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { CompileError, reasonOf } from '../../runtime/errors.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { browsersOf, lackingIn } from './browsers.ts'
import { hiddenColors, importRules, importsTwice, shownColors, withFallbacks } from './css.ts'
import type { PrecompileStyleOptions } from './options.ts'

async function loadEsbuild(purpose: string, root: string): Promise<typeof Esbuild> {
  return (await loadPeer(['esbuild'], purpose, root)) as typeof Esbuild
}

export const esbuildOrReason = (purpose: string, root: string) =>
  loadEsbuild(purpose, root).catch(reasonOf)

/** Returns a text with this map at its end, in a CSS comment. */
export function withInlineMap(css: string, map: object): string {
  return takeInlineMap(css).code + inlineMap(JSON.stringify(map), 'css')
}

const set = (names: string) => Object.fromEntries(names.split(/\s+/).map(name => [name, true]))

/**
 * Syntax that stays as written, whatever the target. Otherwise esbuild would write code that is not a module, a wrong
 * request, or colors that older browsers do not know either.
 */
export const KEPT = set(
  'dynamic-import gradient-interpolation import-assertions import-attributes import-meta'
)

/** The rest cannot be lowered: esbuild fails if the target lacks it. */
export const LEFT = {
  ...KEPT,
  ...set(`arbitrary-module-namespace-names array-spread arrow class const-and-let default-argument destructuring
    for-of generator new-target object-extensions rest-argument top-level-await`)
}

/** No output format is set, so a classic script keeps its global names. */
const optionsFor = ({ name, file }: TransformedText, target?: readonly string[]) =>
  ({
    loader: textType(name) ?? 'js',
    sourcefile: basename(file),
    legalComments: 'inline',
    charset: 'utf8',
    ...(target && { target: [...target] })
  }) satisfies Esbuild.TransformOptions

export async function lowering({ root, apps }: Project): Promise<Transform> {
  const esbuild = await loadEsbuild('the option target', root)
  const targets = new Map<string, readonly string[]>()
  for (const { name, target } of apps)
    if (target !== undefined) targets.set(name, await browsersOf(target, root))
  return {
    targetOf: app => targets.get(app.name),
    async apply(text) {
      const target = targets.get(text.app.name)
      if (!target) return undefined
      const isRepeated = textType(text.name) === 'css' && lackColors(target)
      if (!isRepeated) return lowered(esbuild, root, text, target)
      const repeated = { ...text, code: withFallbacks(text.code) }
      const { code, warnings } = await lowered(esbuild, root, repeated, target)
      return { code: showing(text, shownColors(code)), warnings }
    }
  }
}

/** Tells whether the target lacks colors, which esbuild then replaces. */
const lackColors = (target: readonly string[]) =>
  lackingIn('a { --b: oklch(0 0 0) }', true, target).length > 0

/** Makes the map show a source as it was written, without the copies of declarations. */
function showing({ code: source, isCompiled }: TransformedText, code: string): string {
  const json = isCompiled ? undefined : takeInlineMap(code).map
  if (!json) return code
  return withInlineMap(code, { ...(JSON.parse(json) as object), sourcesContent: [source] })
}

async function lowered(
  esbuild: typeof Esbuild,
  root: string,
  text: TransformedText,
  target: readonly string[]
) {
  const { name, code, isMapped = false } = text
  const warnings = lackingIn(shownColors(code), textType(name) === 'css', target).map(lack => {
    const before = code.slice(0, lack.at).split('\n')
    const place = sourcePlace(root, text, before.length, before.at(-1)?.length)
    return `${place}: ${lack.name} is not lowered, and ${lack.browser} of the option target lacks it`
  })
  // Each message is reported once, at its first place.
  const tell = (messages: readonly Esbuild.Message[], rest = '') => {
    for (const [at, { text: reason, location }] of messages.entries()) {
      if (messages.findIndex(each => each.text === reason) !== at) continue
      const place = sourcePlace(root, text, location?.line, location?.column)
      warnings.push(`${place}: ${reason.replace(/ \+ \d+ overrides?(?=\))/, '')}${rest}`)
    }
  }
  const lower = async (supported: Record<string, boolean>): Promise<string> => {
    try {
      const options = { ...optionsFor(text, target), supported }
      const sourcemap = isMapped ? 'inline' : false
      const made = await esbuild.transform(code, { ...options, sourcemap })
      tell(made.warnings.filter(isAboutTarget))
      return made.code
    } catch (error) {
      const { errors } = error as Partial<Esbuild.TransformFailure>
      if (!errors) throw error
      const isLeft = supported !== LEFT && errors.every(isAboutTarget)
      tell(errors, isLeft ? '; it is left unchanged' : '; it is published unchanged')
      if (isLeft) return lower(LEFT)
      // A text may contain code that does not parse, such as a hack for an old browser.
      return isMapped ? code : takeInlineMap(code).code
    }
  }
  return { code: await lower(KEPT), warnings }
}

const isAboutTarget = ({ text }: Esbuild.Message) => text.includes('configured target')

/** Returns a place in the source; for compiled text without a map, only the file. @param column counts from 0 */
function sourcePlace(root: string, text: TransformedText, line = 1, column = 0): string {
  const { file, code, isCompiled } = text
  if (!isCompiled) return placeOf(root, file, line, column + 1)
  const json = takeInlineMap(code).map
  const found = json && new SourceMap(JSON.parse(json) as never).findEntry(line - 1, column)
  if (!found || !('originalLine' in found)) return placeOf(root, file)
  const source = resolve(dirname(file), found.originalSource.replace(/^file:\/\//, ''))
  return placeOf(root, source, found.originalLine + 1, found.originalColumn + 1)
}

/** Formats a place; both numbers count from 1. */
const placeOf = (root: string, file: string, line?: number, column?: number) =>
  [pathFrom(root, file), line, line && column].filter(Boolean).join(':')

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
  const problem = typeof esbuild === 'string' && { problem: esbuild }
  const minified = { files: 0, bytes: 0, insteadOf: 0, ...problem }
  return {
    minifies,
    // The name shows that a file is already minified.
    takes: (app, name) => !problem && minifies(app) && !/\.min\.\w+$/i.test(name),
    async apply(text) {
      const { name, app, code, file } = text
      const isLeft = textType(name) === 'css' && importsTwice(importRules(code))
      if (isLeft || typeof esbuild === 'string') return undefined
      const result = await minifiedBy(esbuild, text).catch((error: unknown) => {
        const failure = failureOf(error, text)
        if (wish(app) || !(failure instanceof CompileError)) throw failure
        const { line, column } = failure.location
        warn(`${placeOf(root, file, line, column)}: ${failure.reason}; it is published unchanged`)
      })
      if (!result) return undefined
      for (const { text: reason, location } of result.warnings)
        warn(`${sourcePlace(root, text, location?.line, location?.column)}: ${reason}`)
      minified.files++
      minified.bytes += Buffer.byteLength(result.code)
      minified.insteadOf += Buffer.byteLength(takeInlineMap(code).code)
      return { code: result.code, map: withRelativeSources(result.map, file) }
    },
    report: async () => ({ minified })
  }
}

async function minifiedBy(esbuild: typeof Esbuild, text: TransformedText) {
  const { name, code, target } = text
  const options = { ...optionsFor(text, target), ...(target && { supported: LEFT }) }
  const minify = (given: string) =>
    esbuild.transform(given, { ...options, minify: true, sourcemap: 'external' })
  const hidden = textType(name) === 'css' ? hiddenColors(code) : code
  // An error must show the text as it was written.
  const made = await minify(hidden).catch(() => minify(code))
  if (hidden === code) return made
  const warnings = made.warnings.map(each => ({ ...each, text: shownColors(each.text) }))
  return { code: shownColors(made.code), map: shownColors(made.map), warnings }
}

function failureOf(error: unknown, { file, isCompiled }: TransformedText): unknown {
  const failure = asCompileError(error, file)
  if (!isCompiled || !(failure instanceof CompileError)) return failure
  // The line belongs to the compiled text, which is not written anywhere.
  const reason = `its compiled output cannot be minified: ${failure.reason}`
  return new CompileError(reason, { file }, { cause: error })
}
