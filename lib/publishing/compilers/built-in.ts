// Compiles with optional peer dependencies: each peer, and our file for it, is loaded when the first source needs it.
// To add one, add a file and a row here.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Esbuild from 'esbuild'
import type * as Sass from 'sass'
import { memoized } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { errorCode, statOf } from '../../runtime/files/disk.ts'
import { isDenied } from '../../runtime/files/refusals.ts'
import { withDot } from '../../runtime/files/paths.ts'
import type { Compiler, CompilerInput, CompilerOutput } from '../../runtime/settings/compiler.ts'
import { nodeModulesFrom, rootFor } from './compiler.ts'
import type { LessModule } from './less.ts'

interface BuiltInCompiler extends Pick<Compiler, 'extensions' | 'target'> {
  /** The packages that can compile it; the first that is installed is used. */
  readonly peers: readonly string[]
  readonly compile: (input: CompilerInput, peer: unknown) => Promise<CompilerOutput>
}

const FILES = {
  sass: () => import('./sass.ts'),
  less: () => import('./less.ts'),
  esbuild: () => import('./esbuild.ts')
}

export async function loadCompilers(): Promise<void> {
  for (const load of Object.values(FILES)) await load()
}

const sass = (extensions: string, syntax: Sass.Syntax): BuiltInCompiler => ({
  extensions,
  target: '.css',
  peers: ['sass-embedded', 'sass'],
  compile: async (input, peer) =>
    (await FILES.sass()).compileSass(peer as typeof Sass, input, syntax)
})

const esbuild = (loader: 'ts' | 'tsx' | 'jsx', ...extensions: string[]): BuiltInCompiler => ({
  extensions,
  target: '.js',
  peers: ['esbuild'],
  compile: async (input, peer) =>
    (await FILES.esbuild()).compileByEsbuild(peer as typeof Esbuild, input, loader)
})

export const TABLE: readonly BuiltInCompiler[] = [
  sass('.scss', 'scss'),
  sass('.sass', 'indented'),
  {
    extensions: '.less',
    target: '.css',
    peers: ['less'],
    compile: async (input, peer) => (await FILES.less()).compileLess(peer as LessModule, input)
  },
  esbuild('ts', '.ts', '.mts', '.cts'),
  esbuild('tsx', '.tsx'),
  esbuild('jsx', '.jsx')
]

export function withPeer({ peers, compile, ...row }: BuiltInCompiler) {
  const withLoaded = async (input: CompilerInput) =>
    compile(input, await loadPeer(peers, input.path, rootFor(input)))
  return { ...row, peers, compile: withLoaded }
}

export const builtInCompilers = TABLE.map(withPeer)

export const compilersFor = memoized((own: readonly Compiler[]): ReadonlyMap<string, Compiler> => {
  const byExtension = new Map<string, Compiler>()
  for (const compiler of [...builtInCompilers, ...own])
    for (const name of [compiler.extensions].flat())
      byExtension.set(withDot(name).toLowerCase(), compiler)
  return byExtension
})

export function isBuiltIn(compiler: Compiler): boolean {
  return builtInCompilers.some(each => each === compiler)
}

export async function loadPeersOf(compilers: ReadonlySet<Compiler>, from: string): Promise<void> {
  for (const compiler of builtInCompilers) {
    const { peers } = compiler
    if (!compilers.has(compiler) || !(await findPeer(peers, from))) continue
    await loadPeer(peers, '', from)
    if (peers.includes('esbuild')) await (await import('./tsconfig.ts')).loadReader()
  }
}

export const PEERS = [...new Set(TABLE.flatMap(({ peers }) => peers))]

/** The loaded peers, by project and names. A replaced one needs a restart, like any module in Node. */
const loaded = new Map<string, object>()

/** Loads the first that is installed, in the project at `from` or for this package, which may be linked into it. */
export async function loadPeer(names: readonly string[], purpose: string, from = process.cwd()) {
  const key = JSON.stringify([from, ...names])
  const known = loaded.get(key)
  if (known) return known
  const found = await findPeer(names, from)
  if (!found) throw new AssetError('compiler-missing', missingPeer(names, purpose))
  const peer = found.require(found.name) as { readonly default?: object }
  loaded.set(key, peer.default ?? peer)
  return loaded.get(key)
}

export function missingPeer(names: readonly string[], purpose: string): string {
  const last = names.at(-1)
  return `${purpose} needs ${last}, which is not installed: npm install --save-dev ${last}`
}

export async function findPeer(names: readonly string[], from: string) {
  // This is undefined if everything was bundled into one CommonJS file.
  const here = import.meta.dirname as string | undefined
  for (const name of names) {
    for (const base of new Set([from, here ?? from])) {
      const require = createRequire(join(base, 'peer.js'))
      if (await isInstalled(name, base, require)) return { name, require }
    }
  }
  return undefined
}

// A package works as soon as its installation is complete: Node remembers one without a package.json as broken, so Node
// is not asked before; and `require`, unlike `import`, does not remember a failure.
async function isInstalled(name: string, base: string, require: NodeRequire): Promise<boolean> {
  for (const folder of nodeModulesFrom(base)) {
    const found = statOf(join(folder, name, 'package.json'))
    // Node's permission model may deny the folders above the project.
    if (await found.catch(error => (isDenied(error) ? undefined : Promise.reject(error))))
      return true
  }
  // Yarn's Plug'n'Play resolves packages without `node_modules`.
  if (process.versions['pnp'] === undefined) return false
  try {
    return Boolean(require.resolve(name))
  } catch (error) {
    if (errorCode(error) === 'MODULE_NOT_FOUND') return false
    throw error
  }
}
