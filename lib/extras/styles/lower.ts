// Lowers stylesheets and scripts with esbuild, between their compilers and their references.
import { SourceMap } from 'node:module'
import { dirname, resolve } from 'node:path'
import type * as Esbuild from 'esbuild'
import type { Project, Transform, TransformedText } from '../../runtime/app/parts.ts'
import { memoized } from '../../runtime/concurrency.ts'
import { browsersOf, lackingIn } from './browsers.ts'
import { shownColors, withFallbacks } from './css.ts'
import {
  INLINE_MAP,
  inlineMapOf,
  isSheet,
  KEPT,
  LEFT,
  loadEsbuild,
  optionsFor,
  placeOf,
  withInlineMap
} from './esbuild.ts'

/** @throws AssetError where esbuild is not installed */
export async function lowering({ root, apps }: Project): Promise<Transform> {
  const esbuild = await loadEsbuild('the option target', root)
  const targets = new Map<string, readonly string[]>()
  for (const { name, target } of apps)
    if (target !== undefined) targets.set(name, await browsersOf(target, root))
  const lowersColors = memoized(async (target: readonly string[]) => {
    const options: Esbuild.TransformOptions = { loader: 'css', target: [...target] }
    return !(await esbuild.transform('a{color:oklch(0 0 0)}', options)).code.includes('oklch')
  })
  return {
    minifies: () => false,
    takes: () => false,
    targetOf: app => targets.get(app.name),
    async apply(text) {
      const target = targets.get(text.app.name)
      if (!target) return undefined
      const isRepeated = isSheet(text.name) && (await lowersColors(target))
      if (!isRepeated) return lowered(esbuild, root, text, target)
      const repeated = { ...text, code: withFallbacks(text.code) }
      const { code, warnings } = await lowered(esbuild, root, repeated, target)
      const shown = shownColors(code)
      return { code: text.isCompiled ? shown : showing(text.code, shown), warnings }
    },
    report: async () => ({})
  }
}

/** The map shows a source as it was written, without the copies of declarations. */
function showing(source: string, code: string): string {
  const json = inlineMapOf(code)
  if (json === undefined) return code
  return withInlineMap(
    code,
    JSON.stringify({ ...(JSON.parse(json) as object), sourcesContent: [source] })
  )
}

async function lowered(
  esbuild: typeof Esbuild,
  root: string,
  text: TransformedText,
  target: readonly string[]
) {
  const { code, isMapped = false } = text
  const warnings = lackingIn(shownColors(code), isSheet(text.name), target).map(
    ({ name, browser, at }) => {
      const before = code.slice(0, at).split('\n')
      const place = sourcePlace(root, text, before.length, before.at(-1)?.length)
      return `${place}: ${name} is not lowered, and ${browser} of the option target lacks it`
    }
  )
  const lower = (supported: Record<string, boolean>) =>
    esbuild.transform(code, {
      ...optionsFor(text),
      ...{ target: [...target], supported, sourcemap: isMapped ? 'inline' : false }
    })
  // Each text once, at its first place.
  const tell = (messages: readonly Esbuild.Message[], rest = '') => {
    for (const [at, { text: reason, location }] of messages.entries()) {
      if (messages.findIndex(each => each.text === reason) !== at) continue
      const place = sourcePlace(root, text, location?.line, location?.column)
      warnings.push(`${place}: ${reason.replace(/ \+ \d+ overrides?(?=\))/, '')}${rest}`)
    }
  }
  // A text may have what does not parse, such as a hack for an old browser.
  const asWritten = (error: Partial<Esbuild.TransformFailure>) => {
    if (!error.errors) throw error
    tell(error.errors, '; it is published as it is')
    return { code: isMapped ? code : code.replace(INLINE_MAP, ''), warnings: [] }
  }
  const lowerRest = (error: Partial<Esbuild.TransformFailure>) => {
    const { errors = [] } = error
    if (errors.length === 0 || !errors.every(isAboutTarget)) return asWritten(error)
    tell(errors, '; it is left as it is')
    return lower(LEFT).catch(asWritten)
  }
  const made = await lower(KEPT).catch(lowerRest)
  tell(made.warnings.filter(isAboutTarget))
  return { code: made.code, warnings }
}

const isAboutTarget = ({ text }: Esbuild.Message) => text.includes('configured target')

/**
 * Returns the place in the source. Without a map that of compiled text is not known.
 * @param column begins with 0, unlike the line
 */
function sourcePlace(root: string, text: TransformedText, line = 1, column = 0): string {
  const { file, code, isCompiled } = text
  if (!isCompiled) return placeOf(root, file, line, column + 1)
  const json = inlineMapOf(code)
  const found = json && new SourceMap(JSON.parse(json) as never).findEntry(line - 1, column)
  if (!found || !('originalLine' in found)) return placeOf(root, file)
  const source = resolve(dirname(file), found.originalSource.replace(/^file:\/\//, ''))
  return placeOf(root, source, found.originalLine + 1, found.originalColumn + 1)
}
