// The project's options: from a file that the application imports as well.
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import type { KoaAssetsOptions } from '../assets/settings/options.ts'
import { reasonOf } from '../errors.ts'
import { UsageError, type Values } from './command.ts'
import { learnTypeScript } from './typescript.ts'

const NAMES = ['ts', 'mts', 'js', 'mjs', 'json'].map(extension => `assets.config.${extension}`)

/**
 * What the command line says comes before what the file says.
 *
 * @throws UsageError for a file or directory that is not there; Error for a file that cannot be loaded
 */
export async function loadOptions(values: Values): Promise<KoaAssetsOptions> {
  const [root, env] = [values.text('root'), values.text('env')]
  const directory = resolve(root ?? '.')
  if (!existsSync(directory)) throw new UsageError(`--root names ${root}, which is not there`)
  // The file, and what it imports, may look at it.
  if (env !== undefined) process.env.NODE_ENV = env
  const file = findFile(directory, values.text('config'))
  const options = file === undefined ? {} : await load(file)
  return {
    ...options,
    ...(env !== undefined && { env }),
    root: resolve(root ?? options.root ?? '.')
  }
}

function findFile(directory: string, given: string | undefined): string | undefined {
  if (given === undefined) return NAMES.map(name => join(directory, name)).find(existsSync)
  const file = resolve(given)
  if (!existsSync(file)) throw new UsageError(`--config names ${given}, which is not there`)
  return file
}

async function load(file: string): Promise<KoaAssetsOptions> {
  try {
    const exported = extname(file) === '.json' ? await readJson(file) : await importDefault(file)
    return checked(await (typeof exported === 'function' ? exported() : exported))
  } catch (error) {
    throw new Error(`${basename(file)} cannot be loaded: ${reasonOf(error)}`, { cause: error })
  }
}

async function readJson(file: string): Promise<unknown> {
  return JSON.parse(await readFile(file, 'utf8'))
}

async function importDefault(file: string): Promise<unknown> {
  if (/\.m?ts$/.test(file)) await learnTypeScript(file)
  const module = (await import(pathToFileURL(file).href)) as { default?: unknown }
  const inner = module.default
  // TypeScript that was compiled to CommonJS on the way has its default one level down.
  const isWrapped = typeof inner === 'object' && inner !== null && 'default' in inner
  return isWrapped ? inner.default : inner
}

function checked(options: unknown): KoaAssetsOptions {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return options
  const given = inspect(options, { depth: 0 })
  throw new TypeError(
    `its default export must be the options of koaAssets(), or a function that returns them, got ${given}`
  )
}
