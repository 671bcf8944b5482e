// Lowers stylesheets and scripts with esbuild, between their compilers and their references.
import { SourceMap } from 'node:module'
import { basename, dirname, extname, resolve } from 'node:path'
import type * as Esbuild from 'esbuild'
import { loadPeer } from '../../assets/compilers/built-in.ts'
import type { Project, Transform, TransformedText } from '../../assets/parts.ts'
import { positionsOf } from '../../assets/references/references.ts'
import { memoized } from '../../assets/sources/catalog.ts'
import { pathFrom } from '../../files/paths.ts'
import { shownColors } from '../minify/colors.ts'
import { browsersOf } from './browsers.ts'
import { withFallbacks } from './fallbacks.ts'
import { lackingIn } from './features.ts'

/** These are left as they are written: what replaces them is no module, or a gradient of unknown colors. */
const KEPT = {
  'dynamic-import': true,
  'gradient-interpolation': true,
  'import-assertions': true,
  'import-attributes': true,
  'import-meta': true
}
/** A text may have what does not parse, such as a hack for an old browser, and is then published as it is. */
interface Failed {
  readonly errors?: readonly Esbuild.Message[]
}

/** @throws AssetError where esbuild is not installed */
export async function lowering({ root, apps }: Project): Promise<Transform> {
  const esbuild = (await loadPeer(['esbuild'], 'the option target', root)) as typeof Esbuild
  const targets = new Map(
    await Promise.all(
      apps.map(async ({ name, target }) => {
        const browsers = target === undefined ? undefined : await browsersOf(target, root)
        return [name, browsers] as const
      })
    )
  )
  const lowersColors = memoized(async (target: readonly string[]) => {
    const { code } = await esbuild.transform('a{color:oklch(60% .1 200)}', {
      loader: 'css',
      target: [...target]
    })
    return !code.includes('oklch')
  })
  return {
    minifies: () => false,
    takes: () => false,
    targetOf: app => targets.get(app.name),
    async apply(text) {
      const target = targets.get(text.app.name)
      if (!target) return undefined
      const isCss = extname(text.name).toLowerCase() === '.css'
      const hasFallbacks = isCss && (await lowersColors(target))
      const warnings = lackingIn(text.code, isCss, target).map(({ name, browser, at }) => {
        const [{ line, column } = { line: 0, column: 0 }] = positionsOf(text.code, [at])
        return `${placeOf(root, text, line, column)}: ${name} is not lowered, and ${browser} of the option target lacks it`
      })
      try {
        const made = await esbuild.transform(hasFallbacks ? withFallbacks(text.code) : text.code, {
          loader: isCss ? 'css' : 'js',
          target: [...target],
          supported: KEPT,
          sourcemap: text.isMapped ? 'inline' : false,
          sourcefile: basename(text.file),
          legalComments: 'inline',
          charset: 'utf8'
        })
        const told = made.warnings.filter(each => each.text.includes('configured target'))
        warnings.push(...told.map(each => messageOf(root, text, each)))
        return { code: hasFallbacks ? shownColors(made.code) : made.code, warnings }
      } catch (error) {
        const { errors = [] } = error as Failed
        if (errors.length === 0) throw error
        const rest = 'it is published as it is'
        warnings.push(...errors.map(each => `${messageOf(root, text, each)}; ${rest}`))
        return { code: text.isMapped ? text.code : text.code.replace(INLINE_MAP, ''), warnings }
      }
    },
    report: async () => ({})
  }
}

const INLINE_MAP =
  /\n?\/[/*][#@] sourceMappingURL=data:application\/json[^,]*,(?<data>[^\s*]+)[^]*$/

function messageOf(
  root: string,
  text: TransformedText,
  { text: reason, location }: Esbuild.Message
) {
  const { line = 1, column = 0 } = location ?? {}
  return `${placeOf(root, text, line - 1, column)}: ${reason}`
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
