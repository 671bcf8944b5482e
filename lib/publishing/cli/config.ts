// Loads the project's options from a configuration file that the application can import as well.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
import type { KoaAssetsOptions } from '../../runtime/settings/options.ts'
import { reasonOf } from '../../runtime/errors.ts'
import { bytesOf, errorCode } from '../../runtime/files/disk.ts'
import { isRecord, isText, optionError } from '../../runtime/check-options.ts'
import { UsageError } from './command.ts'
import type { Call, Project } from '../../runtime/app/extra.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

const EXTENSIONS = ['ts', 'mts', 'js', 'mjs', 'cjs', 'json']
/** The file names; the first that exists is loaded. */
export const CONFIG_NAMES = EXTENSIONS.map(extension => `assets.config.${extension}`)

/** Sets NODE_ENV to --env, unless it has a value to `environment`. @throws UsageError for a file that does not exist */
export async function loadOptions(
  { values, output }: Pick<Call, 'values' | 'output'>,
  environment: string
): Promise<KoaAssetsOptions> {
  const { root, env } = values
  const directory = resolve(root ?? '.')
  if (!existsSync(directory)) throw new UsageError(`--root: no such directory: ${root}`)
  // Variables are set first, as the file and compilers may read them. Values already set win, as with --env-file.
  const named = env ?? (process.env.NODE_ENV || environment)
  process.env.NODE_ENV = named
  const envFile = join(directory, `.env.${named}`)
  // process.loadEnvFile reports an unreadable file as missing, and gives no reason for a directory.
  const variables = await bytesOf(envFile)
  if (variables) {
    output.note(`reading ${pathFrom('.', envFile)}`)
    Object.assign(process.env, { ...parseEnv(String(variables)), ...process.env })
  }
  const file = findConfig(directory, values.config)
  const options = file === undefined ? {} : await load(file)
  const given = root ?? options.root ?? '.'
  return {
    ...options,
    ...(env !== undefined && { env }),
    // Any other value is rejected together with the other options.
    root: isText(given) ? resolve(given) : given
  }
}

function findConfig(directory: string, given?: string): string | undefined {
  if (given === undefined) return CONFIG_NAMES.map(name => join(directory, name)).find(existsSync)
  if (existsSync(resolve(given))) return resolve(given)
  throw new UsageError(`--config: no such file: ${given}`)
}

async function load(file: string): Promise<KoaAssetsOptions> {
  try {
    const text = String(await bytesOf(file))
    const isJson = extname(file) === '.json'
    const exported: unknown = isJson ? JSON.parse(text) : await importDefault(file)
    const options: unknown = await (typeof exported === 'function' ? exported() : exported)
    if (isRecord(options)) return options
    const expected = 'the options of koaAssets(), or a function that returns them'
    throw optionError('its default export', expected, options)
  } catch (error) {
    throw new Error(`cannot load ${basename(file)}: ${reasonOf(error)}`, { cause: error })
  }
}

async function importDefault(file: string): Promise<unknown> {
  if (/\.m?ts$/.test(file)) await enableTypeScript(file)
  const { default: inner } = (await import(pathToFileURL(file).href)) as { default?: unknown }
  // The default export of TypeScript that a loader compiled to CommonJS is nested once more.
  return isRecord(inner) && 'default' in inner ? inner.default : inner
}

/** Loads the project's tsx for Node before 22.18. It must be loaded first, as Node caches a failed import. */
async function enableTypeScript(file: string): Promise<void> {
  if (stripsTypes()) return
  try {
    await import(pathToFileURL(createRequire(file).resolve('tsx')).href)
  } catch (error) {
    if (errorCode(error) !== 'MODULE_NOT_FOUND') throw error
    const remedy = `run npm install --save-dev tsx, or name the file that tsc wrote for it, as in --config build/${basename(file).replace(/ts$/, 'js')}`
    const message = `Node ${process.versions.node} cannot import TypeScript: ${remedy}`
    throw new Error(message, { cause: error })
  }
}

export function stripsTypes(): boolean {
  return Boolean((process.features as { typescript?: unknown }).typescript)
}

/** Loads the project, and notes a missing file in the folder of the command: the options may have another root. */
export async function projectOf(
  { output, values, loadProject }: Call,
  use: Parameters<Call['loadProject']>[0] = 'deployment'
): Promise<Project> {
  const project = await loadProject(use)
  const directory = resolve(values.root ?? '.')
  if (findConfig(directory, values.config) === undefined) {
    output.note(
      `there is no assets.config.js or .ts in ${directory}: these are the default options, whatever the application passes to koaAssets`
    )
  }
  return project
}
