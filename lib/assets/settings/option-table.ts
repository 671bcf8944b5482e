// One row for each option of koaAssets: what it must be, and its default. An option whose default depends
// on another option or on the disk gets its default in settings.ts or app-settings.ts.
import { INTEGRITY_ALGORITHMS } from '../../files/checksums.ts'
import {
  check,
  entriesGiven,
  flag,
  isRecord,
  isText,
  listOf,
  optionError,
  oneOf,
  record,
  seconds,
  text,
  wholeNumber,
  withDefault,
  type Expectation
} from '../../options.ts'
import { isCanonicalBelow } from '../urls/canonical-path.ts'
import { FALLBACK, isExtension, MOUNT } from './mount-options.ts'
import type {
  AppOptions,
  Configure,
  KoaAssetsOptions,
  LayeredOptions,
  LiveOptions
} from './options.ts'
import { headers } from './values-by-path.ts'

/** What a default may depend on. */
export interface Situation {
  readonly env: string
  readonly isPrecompile: boolean
}

const MIB = 1024 * 1024

export const LAYERED = {
  compile: withDefault(
    flag,
    ({ env, isPrecompile }: Situation) => isPrecompile || env === 'development' || env === 'test'
  ),
  fingerprint: withDefault(
    flag,
    ({ env, isPrecompile }: Situation) => isPrecompile || env === 'production'
  ),
  sources: { expected: 'a list of directories', holds: value => [value].flat().every(isText) },
  integrity: {
    expected: `false, ${INTEGRITY_ALGORITHMS.map(name => `'${name}'`).join(', ')} or a list of these`,
    holds: value => value === false || [value].flat().every(oneOf(...INTEGRITY_ALGORITHMS).holds)
  },
  compilers: listOf('a list of { extensions, target, compile }', isCompiler),
  imports: {
    expected:
      "an object of bare module specifiers, each with a name or an absolute URL, such as { confetti: 'vendor/confetti.js' }",
    holds: value => isRecord(value) && entriesGiven(value).every(isImport)
  },
  missing: withDefault(oneOf('ignore', 'warn', 'error'), ({ isPrecompile }: Situation) =>
    isPrecompile ? 'error' : 'warn'
  ),
  minify: withDefault(flag, false)
} satisfies Record<keyof LayeredOptions, Expectation>

export const APP = { ...LAYERED, dir: text, path: text, configure: record } satisfies Record<
  keyof AppOptions,
  Expectation
>

/** Options of the top level alone. */
export const PROJECT = {
  root: text,
  env: text,
  serve: flag,
  public: { expected: 'a string or false', holds: value => value === false || isText(value) },
  prefix: text,
  host: {
    expected: "a scheme and host such as 'https://cdn.example'",
    holds: value => isText(value) && /^(https?:)?\/\/[^/?#\s"'<>\\]+\/?$/.test(value)
  },
  earlyHints: withDefault(flag, false),
  apps: {
    expected: 'an object with at least one app, or false',
    holds: value => value === false || (isRecord(value) && entriesGiven(value).length > 0)
  },
  mounts: record,
  headers,
  memory: record,
  index: record,
  revalidate: seconds,
  symlinks: withDefault(oneOf('inside', 'follow', 'deny'), 'inside'),
  tails: withDefault(flag, true),
  deltas: withDefault(flag, true),
  live: {
    expected: 'true, false or an object',
    holds: value => typeof value === 'boolean' || isRecord(value)
  },
  configure: record
} satisfies Record<Exclude<keyof KoaAssetsOptions, keyof LayeredOptions>, Expectation>

export const TOP = { ...LAYERED, ...PROJECT }

export const MEMORY = {
  maxBytes: withDefault(wholeNumber('bytes'), 64 * MIB),
  maxFileBytes: withDefault(wholeNumber('bytes'), MIB)
} satisfies Record<keyof NonNullable<KoaAssetsOptions['memory']>, Expectation>

export const INDEX = {
  max: withDefault(wholeNumber('entries', 1), 10_000)
} satisfies Record<keyof NonNullable<KoaAssetsOptions['index']>, Expectation>

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/i

export const LIVE = {
  hosts: listOf(
    "a list of host names without port, such as 'my-machine.local'",
    name => isText(name) && HOST.test(name)
  ),
  watch: listOf('a list of directories', isText),
  editor: oneOf('vscode', 'vscode-insiders', 'vscodium', 'cursor', 'windsurf', 'zed')
} satisfies Record<keyof LiveOptions, Expectation>

/** @throws TypeError for an unknown option and for a wrong value, wherever it is */
export function checkOptions(options: KoaAssetsOptions): void {
  check(options, TOP)
  check(options.memory ?? {}, MEMORY, 'memory.')
  check(options.index ?? {}, INDEX, 'index.')
  if (isRecord(options.live)) check(options.live, LIVE, 'live.')
  checkConfigure(options.configure, '')
  for (const [name, app] of entriesGiven(options.apps || {})) {
    check(app, APP, `apps.${name}.`)
    checkConfigure(app.configure, `apps.${name}.`)
  }
  for (const [path, mount] of entriesGiven(options.mounts)) checkMount(path, mount)
}

function checkConfigure(configure: Configure | undefined, place: string): void {
  for (const [env, layer] of entriesGiven(configure)) {
    check(layer, LAYERED, `${place}configure.${env}.`)
  }
}

function checkMount(path: string, mount: unknown): void {
  if (isText(mount)) return
  if (!isRecord(mount)) throw optionError(path, 'a directory or an object', mount, 'mounts.')
  const place = `mounts.${path}.`
  check(mount, MOUNT, place)
  if (mount['dir'] === undefined) throw optionError('dir', MOUNT.dir.expected, undefined, place)
  const { fallback } = mount
  if (!isRecord(fallback)) return
  check(fallback, FALLBACK, `${place}fallback.`)
  if (fallback['file'] !== undefined) return
  throw optionError('file', FALLBACK.file.expected, undefined, `${place}fallback.`)
}

/**
 * HTML, "resolve a module specifier": what begins with a slash, a dot and a slash, or a scheme is a URL, and
 * what ends with a slash stands for all that begin with it.
 */
function isImport([specifier, name]: readonly [string, unknown]): boolean {
  const isBare = specifier !== '' && !/^(?:\.{0,2}\/|[a-z][a-z\d+.-]*:)|\/$/i.test(specifier)
  return isBare && isText(name) && (isAbsoluteUrl(name) || isCanonicalBelow(name))
}

export function isAbsoluteUrl(name: string): boolean {
  return /^(?:https?:)?\/\//i.test(name)
}

function isCompiler(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { extensions, target, compile } = value
  const names = [extensions].flat()
  // A compiler is chosen by the last extension of a name.
  const isNamed = names.length > 0 && names.every(isExtension)
  return isNamed && isText(target) && typeof compile === 'function'
}
