// Finds the configuration file of a project, or writes a new one.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../runtime/check-options.ts'
import { CONFIG_NAMES } from '../../publishing/cli/config.ts'
import { reasonOf } from '../../runtime/errors.ts'
import { readIfThere } from '../../runtime/files/at-start.ts'
import { compilerOf } from './tailwind.ts'

export interface Config {
  readonly name: string
  readonly kind: 'typescript' | 'esm' | 'commonjs'
}

/** Returns the existing file, or the one to write: Jest and `require` cannot load an ES module everywhere. */
export function configOf(root: string): Config {
  const file = join(root, 'package.json')
  const packaged = parsed(readIfThere(file), file)
  const isModule = isRecord(packaged) && packaged.type === 'module'
  const isTyped = existsSync(join(root, 'tsconfig.json')) || dependsOn(packaged, 'typescript')
  const written = isTyped ? (isModule ? 'ts' : 'mts') : 'js'
  const there = CONFIG_NAMES.find(each => existsSync(join(root, each)))
  const name = there ?? `assets.config.${written}`
  if (name.endsWith('ts')) return { name, kind: 'typescript' }
  const isEsm = name.endsWith('.mjs') || (isModule && name.endsWith('.js'))
  return { name, kind: isEsm ? 'esm' : 'commonjs' }
}

function dependsOn(packaged: unknown, name: string): boolean {
  const { dependencies, devDependencies } = (packaged ?? {}) as Readonly<Record<string, unknown>>
  return [dependencies, devDependencies].some(each => isRecord(each) && Object.hasOwn(each, name))
}

function parsed(bytes: Buffer | undefined, file: string): unknown {
  try {
    return bytes && JSON.parse(bytes.toString())
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${reasonOf(error)}`, { cause: error })
  }
}

/** @param options are further ones, such as `bundle: true` */
export function contentOf(
  { kind }: Config,
  isTailwind: boolean,
  options: readonly string[]
): string {
  const all = [...(isTailwind ? ['compilers: [pcss]'] : []), ...options]
  const lines = all.map(option => `,\n  ${option}`).join('')
  const content = kind === 'typescript' ? typedConfig(lines) : untypedConfig(kind === 'esm', lines)
  const start = isTailwind ? compilerOf(kind) : kind === 'typescript' ? TYPE_IMPORT : ''
  return ABOUT_CONFIG + start + content
}

const ABOUT_CONFIG = '// Options for koaAssets() and for the koa-fresh-assets command.\n'

const untypedConfig = (isEsm: boolean, lines: string) => `
/** @type {import('koa-fresh-assets').KoaAssetsOptions} */
${isEsm ? 'export default' : 'module.exports ='} {
  // Relative paths start here, whatever the working directory is.
  root: ${isEsm ? 'import.meta.dirname' : '__dirname'}${lines}
}
`

const TYPE_IMPORT = "import type { KoaAssetsOptions } from 'koa-fresh-assets'\n"

const typedConfig = (lines: string) => `
export default {
  // Relative paths start here. If tsc writes this file elsewhere: process.cwd()
  root: import.meta.dirname${lines}
} satisfies KoaAssetsOptions
`
