// The checks of the options of koaAssets, and the defaults that depend neither on other options nor on the disk.
import { types } from 'node:util'
import { INTEGRITY_ALGORITHMS } from '../files/digest.ts'
import {
  appended,
  callback,
  entriesGiven,
  flag,
  globs,
  isRecord,
  isGlob,
  isText,
  listOf,
  oneOf,
  record,
  seconds,
  text,
  wholeNumber,
  withDefault,
  type Expectation,
  type SettingsOf
} from '../check-options.ts'
import { CACHE_CONTROL } from '../http/cache-control.ts'
import { BASE, isCanonicalBelow } from '../urls/spelling.ts'
import { DEFINE } from './constants.ts'
import { LAYERED_EXTRAS, MOUNT_EXTRAS, PROJECT_EXTRAS } from './extra-options.ts'
import type {
  AppOptions,
  KoaAssetsOptions,
  LayeredOptions,
  LiveOptions,
  MountOptions,
  SourceOptions
} from './options.ts'

interface Situation {
  readonly env: string
  readonly isPrecompile: boolean
}

const MIB = 1024 * 1024

/** The environments that have defaults of their own; a project may have others, such as `staging`. */
export const ENVIRONMENTS: readonly string[] = ['development', 'test', 'production']

const onIn = (...names: readonly string[]) =>
  withDefault(flag, ({ env, isPrecompile }: Situation) => isPrecompile || names.includes(env))

export const LAYERED = {
  compile: onIn('development', 'test'),
  fingerprint: onIn('production'),
  sources: appended<string | SourceOptions>(
    "a list of directories, each a path or { dir, at, include, exclude }, with globs such as 'private/**'",
    isSource
  ),
  ...LAYERED_EXTRAS,
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
  define: DEFINE,
  missing: withDefault(oneOf('ignore', 'warn', 'error'), ({ env, isPrecompile }: Situation) =>
    isPrecompile || env === 'development' ? 'error' : 'warn'
  ),
  sourceMaps: withDefault(
    {
      expected: "'hidden', true or false",
      holds: value => value === 'hidden' || typeof value === 'boolean'
    },
    'hidden'
  )
} satisfies Record<keyof LayeredOptions, Expectation>

export const MEMORY = {
  maxBytes: withDefault(wholeNumber('bytes'), 64 * MIB),
  maxFileBytes: withDefault(wholeNumber('bytes'), MIB)
} satisfies Record<keyof NonNullable<KoaAssetsOptions['memory']>, Expectation>

export const INDEX = {
  max: withDefault(wholeNumber('entries', 1), 10_000)
} satisfies Record<keyof NonNullable<KoaAssetsOptions['index']>, Expectation>

export const LIVE = {
  hosts: listOf(
    "a list of host names without port, such as 'my-machine.local'",
    name => isText(name) && /^(?:[\w.-]+|\[[\da-f:.]+\])$/i.test(name)
  ),
  watch: listOf('a list of directories', isText),
  editor: oneOf('vscode', 'vscode-insiders', 'vscodium', 'cursor', 'windsurf', 'zed'),
  console: flag
} satisfies Record<keyof LiveOptions, Expectation>

const byPath = (holds: (value: unknown) => boolean) => (value: unknown) =>
  typeof value === 'function' || holds(value)

function isPathBelow(value: unknown): boolean {
  return isText(value) && value.split('/').every(segment => /^[^.\\:][^\\:]*$/.test(segment))
}

export const headers: Expectation = {
  expected: "an object such as { 'X-Robots-Tag': 'noindex' }, or a function of the path",
  holds: byPath(isRecord)
}

const page = { expected: "a path such as 'index.html' or a function", holds: byPath(isPathBelow) }

/** An extension is accepted with or without its dot, but without an inner one. */
const isExtension = (value: unknown): boolean => isText(value) && /^\.?[^./\\]+$/.test(value)

const FALLBACK = {
  file: { ...page, isRequired: true },
  except: { expected: 'a RegExp or a function of the path', holds: byPath(types.isRegExp) }
} satisfies Record<string, Expectation>

export const MOUNT = {
  dir: { ...text, isRequired: true },
  ...MOUNT_EXTRAS,
  immutable: {
    expected: 'true, false, a RegExp or a function of the path',
    holds: byPath(value => typeof value === 'boolean' || types.isRegExp(value))
  },
  cacheControl: {
    expected: `${CACHE_CONTROL.expected}, or a function of the path`,
    holds: byPath(CACHE_CONTROL.holds)
  },
  headers,
  index: {
    expected: "a file name such as 'index.html'",
    holds: value => isPathBelow(value) && !String(value).includes('/')
  },
  extensions: listOf("a list of extensions, such as ['html']", isExtension),
  exclude: globs,
  fallback: {
    expected: `${page.expected}, or { file, except }`,
    holds: value => isRecord(value) || page.holds(value),
    fields: FALLBACK
  },
  revalidate: seconds,
  symlinks: oneOf('inside', 'follow', 'deny')
} satisfies Record<keyof MountOptions, Expectation>

const mount: Expectation = {
  expected: 'a directory or an object',
  holds: value => isText(value) || isRecord(value),
  fields: MOUNT
}

const configure = { ...record, each: { ...record, fields: LAYERED } }

export const APP = { ...LAYERED, dir: text, path: text, configure } satisfies Record<
  keyof AppOptions,
  Expectation
>

export const PROJECT = {
  root: text,
  env: text,
  serve: flag,
  public: withDefault(
    { expected: 'a directory or false', holds: value => value === false || isText(value) },
    'public'
  ),
  prefix: text,
  host: {
    expected: "a scheme and host such as 'https://cdn.example'",
    holds: value =>
      isText(value) && /^[a-z:]*\/\/[^/?#\s"'<>\\]+\/?$/.test(value) && isAbsoluteUrl(value)
  },
  base: BASE,
  apps: {
    expected: 'an object with at least one app, or false',
    holds: value => value === false || (isRecord(value) && entriesGiven(value).length > 0),
    each: { ...record, fields: APP }
  },
  mounts: { ...record, each: mount },
  headers,
  memory: { ...record, fields: MEMORY },
  index: { ...record, fields: INDEX },
  revalidate: seconds,
  symlinks: withDefault(oneOf('inside', 'follow', 'deny'), 'inside'),
  tails: withDefault(flag, true),
  ...PROJECT_EXTRAS,
  live: {
    expected: 'true, false or an object',
    holds: value => typeof value === 'boolean' || isRecord(value),
    fields: LIVE
  },
  configure
} satisfies Record<Exclude<keyof KoaAssetsOptions, keyof LayeredOptions>, Expectation>

export const TOP = { ...LAYERED, ...PROJECT }

/** The settings that are settled first; those of apps and mounts depend on them. */
export interface CommonSettings extends Situation, SettingsOf<typeof PROJECT> {
  /** An absolute path, like the next. */
  readonly root: string
  readonly publicDir: string
  /** The decoded URL prefix, without a trailing slash. */
  readonly prefix: string
  /** The encoded base, without a trailing slash; empty for none. */
  readonly base: string
}

// HTML, "resolve a module specifier": one that begins like a URL is a URL; a slash at its end stands for all below.
function isImport([specifier, name]: readonly [string, unknown]): boolean {
  const isBare = specifier !== '' && !/^(?:\.{0,2}\/|[a-z][a-z\d+.-]*:)|\/$/i.test(specifier)
  return isBare && isText(name) && (isAbsoluteUrl(name) || isCanonicalBelow(name))
}

export function isAbsoluteUrl(name: string): boolean {
  return /^(?:https?:)?\/\//i.test(name) && URL.canParse(name, 'http://a')
}

function isSource(value: unknown): boolean {
  if (!isRecord(value)) return isText(value)
  const { dir, at = '/', include = [], exclude = [], ...others } = value
  // Below `-/` are the pages of development.
  const isPlaced = at === '/' || (isText(at) && isCanonicalBelow(at) && at.split('/')[0] !== '-')
  const areGlobs = [include, exclude].flat().every(isGlob)
  return isText(dir) && isPlaced && areGlobs && Object.keys(others).length === 0
}

function isCompiler(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { extensions, target, compile } = value
  const names = [extensions].flat()
  // The last extension of a name chooses its compiler.
  const isNamed = names.length > 0 && names.every(isExtension)
  return isNamed && isText(target) && callback.holds(compile)
}
