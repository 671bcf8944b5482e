// Lets components keep their state when their module is replaced: those of React by Fast Refresh, those of Preact by
// Prefresh, which is modelled on it. Oxc registers components, and signs the hooks that they use.
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { SourceMap } from 'rolldown'
import type { Pages } from '../../runtime/app/extra.ts'
import type { Transform } from '../../runtime/app/transform.ts'
import { once } from '../../runtime/concurrency.ts'
import { ifAssetError, warnOnce } from '../../runtime/errors.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { firstFile, inlineMap, nodeModulesFrom } from '../../publishing/compilers/compiler.ts'
import { dependencyAmong } from '../../publishing/compilers/leads.ts'
import { loadModuleLexer } from '../../publishing/references/modules.ts'
import { takeInlineMap } from '../../publishing/rendering/source-map.ts'
import { scriptAt } from '../live/channel.ts'
import { loadRolldown, type Rolldown } from '../modules/rolldown.ts'

/** Matches the imports of compiled JSX, its runtime: `react/jsx-runtime`. */
const IMPORT = /\bfrom\s*["'](?:[^"'\n]*\/)?(p?react)(?=["'/])/g
/** A text is unchanged if another tool has registered its components, or has written its map to a file. */
const OTHERS = /\$RefreshReg\$|\bsourceMappingURL=(?!data:)/
const LOST = 'an edited component loses its state in open pages; to keep it'
const CLASS = /\bextends\s+(?:\w+\.)?(?:Pure)?Component\b/

export function refreshing({ root }: Settings): Transform {
  const load = once(() => loadRolldown('Fast Refresh', root))
  const [warn, seen] = [warnOnce(), new Map<string, string>()]
  return {
    async instrument(code, file, isMapped) {
      const libraries = Array.from(code.matchAll(IMPORT), ([, library]) => library)
      if (libraries.length === 0 || OTHERS.test(code)) return undefined
      // Preact may stand in for React by an import map.
      const isPreact = libraries.includes('preact')
      const keepers = isPreact ? ['@prefresh/core'] : ['react-refresh', '@prefresh/core']
      const looked = new Set<string>()
      const keeper = await dependencyAmong(keepers, file, root, looked)
      const rolldown = keeper && (await load().catch(ifAssetError(() => undefined)))
      const isEdited = code.includes('jsx') && (seen.get(file) ?? code) !== code
      if (!rolldown && isEdited) warn(`${LOST}: npm install -D rolldown ${keepers[0]}`)
      seen.set(file, code)
      const make = rolldown && (await register(rolldown, code, basename(file), isMapped))
      return { code: make ? make(keeper) : code, looked: [...looked] }
    }
  }
}

async function register({ transform }: Rolldown, given: string, name: string, sourcemap: boolean) {
  const { code: text, map: before } = takeInlineMap(given)
  const inputMap = before ? { inputMap: JSON.parse(before) as SourceMap } : {}
  const jsx = { runtime: 'automatic', refresh: true } as const
  const options = { lang: 'js', jsx, sourcemap, ...inputMap } as const
  const { code, map, errors } = await transform(name, text, options)
  const hasComponents = code.includes('$RefreshReg$(') || CLASS.test(code)
  // Syntax errors are reported when the script is published.
  if (errors.length > 0 || !(hasComponents || code.includes('$RefreshSig$('))) return undefined
  const comment = map ? inlineMap(JSON.stringify(map)) : ''
  // A module without exports renders its own components, and would do so twice if it ran again.
  const isBoundary = hasComponents && (await loadModuleLexer()).hasExports(code)
  return (keeper: string) => code + ending(keeper, isBoundary) + comment
}

/** Returns the code to append: functions are hoisted, so no place in the text moves. */
function ending(keeper: string, isBoundary: boolean): string {
  const isPreact = keeper === '@prefresh/core'
  const own = `globalThis.koaFreshAssetsRefresh?.${isPreact ? 'preact' : 'react'}`
  const accept = `if (${own}) import.meta.hot?.accept(${own}.follow(import.meta.url, import.meta.hot))\n`
  return `${isPreact ? `import '${keeper}'\n` : ''}\
function $RefreshReg$(type, name) { ${own}?.register(import.meta.url, type, name) }
function $RefreshSig$() { return ${own}?.sign() ?? (type => type) }
${isBoundary ? accept : ''}`
}

const RUNTIME = 'react-refresh/cjs/react-refresh-runtime.development.js'

/** Returns the scripts: `hot.js` loads `refresh.js` first if the project has one of the packages. */
export function hotPages({ root, apps }: Settings): Pages {
  const folders = new Set([...apps.map(({ dir }) => dir), root].flatMap(nodeModulesFrom))
  const installed = (file: string) => firstFile(Array.from(folders, at => join(at, file)))
  return {
    'hot.js': scriptAt('client/hot.js', import.meta.url, async code => {
      const found = (await installed(RUNTIME)) ?? (await installed('@prefresh/core/package.json'))
      return found === undefined ? code : `import './refresh.js'\n${code}`
    }),
    'refresh.js': scriptAt('client/refresh.js', import.meta.url, async code => {
      const file = await installed(RUNTIME)
      // The runtime is CommonJS in one file.
      const runtime = file === undefined ? '' : await readFile(file, 'utf8')
      return `const fastRefresh = {};\n((exports, process) => {${runtime}\n})(fastRefresh, { env: {} })\n${code}`
    })
  }
}
