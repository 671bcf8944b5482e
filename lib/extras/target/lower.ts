// Lowers stylesheets and scripts with esbuild, between their compilers and their references.
import { SourceMap } from 'node:module'
import { basename, dirname, extname, resolve } from 'node:path'
import type * as Esbuild from 'esbuild'
import { loadPeer } from '../../publishing/compilers/built-in.ts'
import type { Project, Transform, TransformedText } from '../../runtime/app/parts.ts'
import { positionsOf } from '../../publishing/references/references.ts'
import { memoized } from '../../runtime/concurrency.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { shownColors } from '../minify/colors.ts'
import { KEPT, LEFT } from '../minify/syntax.ts'
import { browsersOf } from './browsers.ts'
import { withFallbacks } from './fallbacks.ts'
import { lackingIn } from './features.ts'

/** @throws AssetError where esbuild is not installed */
export async function lowering({ root, apps }: Project): Promise<Transform> {
  const esbuild = (await loadPeer(['esbuild'], 'the option target', root)) as typeof Esbuild
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
      const isCss = extname(text.name).toLowerCase() === '.css'
      if (!isCss || !(await lowersColors(target))) return lowered(esbuild, root, text, target)
      const code = withFallbacks(text.code)
      const made = await lowered(esbuild, root, { ...text, code }, target)
      const shown = shownColors(made.code)
      return { ...made, code: text.isCompiled ? shown : mappedTo(text.code, shown) }
    },
    report: async () => ({})
  }
}

interface Failed {
  readonly errors?: readonly Esbuild.Message[]
}

async function lowered(
  esbuild: typeof Esbuild,
  root: string,
  text: TransformedText,
  target: readonly string[]
) {
  const isCss = extname(text.name).toLowerCase() === '.css'
  const warnings = lackingIn(shownColors(text.code), isCss, target).map(({ name, browser, at }) => {
    const [{ line, column } = { line: 0, column: 0 }] = positionsOf(text.code, [at])
    return `${placeOf(root, text, line, column)}: ${name} is not lowered, and ${browser} of the option target lacks it`
  })
  const lower = (supported: Record<string, boolean>) =>
    esbuild.transform(text.code, {
      loader: isCss ? 'css' : 'js',
      target: [...target],
      supported,
      sourcemap: text.isMapped ? 'inline' : false,
      sourcefile: basename(text.file),
      legalComments: 'inline',
      charset: 'utf8'
    })
  const tell = (messages: readonly Esbuild.Message[], rest = '') => {
    const known = new Map(messages.toReversed().map(each => [each.text, each]))
    for (const each of [...known.values()].toReversed())
      warnings.push(messageOf(root, text, each) + rest)
  }
  // A text may have what does not parse, such as a hack for an old browser.
  const asWritten = (error: Failed) => {
    if (!error.errors) throw error
    tell(error.errors, '; it is published as it is')
    return { code: text.isMapped ? text.code : text.code.replace(INLINE_MAP, ''), warnings: [] }
  }
  const lowerRest = (error: Failed) => {
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

const INLINE_MAP =
  /\n?\/[/*][#@] sourceMappingURL=data:application\/json[^,]*,(?<data>[^\s*]+)[^]*$/

/** The map shows a source as it was written, without the copies of declarations. */
function mappedTo(source: string, code: string): string {
  const data = INLINE_MAP.exec(code)?.groups?.['data']
  if (data === undefined) return code
  const map = JSON.parse(Buffer.from(data, 'base64').toString()) as object
  const whole = JSON.stringify({ ...map, sourcesContent: [source] })
  return code.replace(data, Buffer.from(whole).toString('base64'))
}

function messageOf(
  root: string,
  text: TransformedText,
  { text: reason, location }: Esbuild.Message
) {
  const { line = 1, column = 0 } = location ?? {}
  return `${placeOf(root, text, line - 1, column)}: ${reason.replace(/ \+ \d+ overrides?(?=\))/, '')}`
}

/** Returns the place in the source. Without a map that of compiled text is not known. */
function placeOf(
  root: string,
  { file, code, isCompiled }: TransformedText,
  line: number,
  column: number
) {
  if (!isCompiled) return `${pathFrom(root, file)}:${line + 1}:${column + 1}`
  const data = INLINE_MAP.exec(code)?.groups?.['data']
  if (data === undefined) return pathFrom(root, file)
  const map = new SourceMap(JSON.parse(Buffer.from(data, 'base64').toString()) as never)
  const found = map.findEntry(line, column)
  if (!('originalLine' in found)) return pathFrom(root, file)
  const source = resolve(dirname(file), found.originalSource.replace(/^file:\/\//, ''))
  return `${pathFrom(root, source)}:${found.originalLine + 1}:${found.originalColumn + 1}`
}
