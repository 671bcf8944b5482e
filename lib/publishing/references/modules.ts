// Finds the references in JavaScript: import and export … from, import(), new URL(…, import.meta.url).
import { basename, extname } from 'node:path'
import type { ImportSpecifier } from 'es-module-lexer/minimal'
import { isInModule, makeReference, mayBeAsset, type Reference } from './references.ts'
import { compilersFor } from '../compilers/built-in.ts'
import { withDot } from '../../runtime/files/paths.ts'
import { mediaTypeOf } from '../../runtime/http/fields.ts'
import type { AppSettings } from '../../runtime/settings/apps.ts'

/** A text without one of these words has no references; escapes may not hide them (ECMA-262 section 12.7.2). */
const CANDIDATE = /\b(?:import|from)\b/
/** Distinguishes unparsable modules from classic scripts that have one of these words in a comment. */
const IMPORTS = /\b(?:import|from)(?:\s*\()?\s*["'`]|\bimport\s*\.\s*meta\b/

export async function loadModuleLexer() {
  const { init, parse } = await import('es-module-lexer/minimal')
  await init()
  const lex = (code: string, giveUp?: (at: number) => void) => {
    try {
      return parse(code)
    } catch (error) {
      const { idx } = error as { idx?: unknown }
      if (typeof idx !== 'number') throw error
      giveUp?.(idx)
      return undefined
    }
  }
  const importsIn = (...given: Parameters<typeof lex>) => lex(...given)?.[0] ?? []
  const specifierIn = (code: string) => importsIn(code)[0]?.n ?? ''
  return {
    /** Finds references with literal specifiers; `isOpen` if others are there, `import('./' + x)`, or unparsed code. */
    find: (code: string) => {
      let unparsedAt: number | undefined
      const giveUp = (at: number) => {
        if (IMPORTS.test(code)) unparsedAt = at
      }
      const imports = CANDIDATE.test(code) ? importsIn(code, giveUp) : []
      let isOpen = unparsedAt !== undefined
      const references = imports.flatMap(each => {
        if (each.d === IMPORT_META)
          return [...urlReference(specifierIn, code, each), ...acceptedIn(code, each.e)]
        const reference = importReference(code, each)
        isOpen ||= !reference
        return reference ?? []
      })
      return { references, unparsedAt, isOpen }
    },
    /** Tells whether the text has syntax that only a module may have; undefined if it cannot be parsed. */
    isModule: (code: string) => {
      const found = lex(code)
      if (!found) return undefined
      const [imports, exports] = found
      return exports.length > 0 || imports.some(({ d }) => d === STATIC || d === IMPORT_META)
    },
    hasExports: (code: string) => (lex(code)?.[1] ?? []).length > 0,
    metasIn: (code: string) => importsIn(code).flatMap(({ d, s }) => (d === IMPORT_META ? s : [])),
    usesOwnUrl: (code: string) =>
      importsIn(code).some(({ d, n }) => d === IMPORT_META || (d !== STATIC && n === undefined))
  }
}

// The lexer reports these instead of the position of `import(`.
const STATIC = -1
const IMPORT_META = -2

function importReference(code: string, { n: specifier, s, e, se, d, a }: ImportSpecifier) {
  if (specifier === undefined) return undefined
  // The lexer reports quotes as part of the specifier only for `import()`.
  const [start, end] = d === STATIC ? [s - 1, e + 1] : [s, e]
  // Source maps are shifted within a line.
  if (/[\n\r]/.test(code.slice(start, end))) return undefined
  const kind = d === STATIC ? ('import' as const) : ('dynamic-import' as const)
  const type = a === -1 ? undefined : TYPE.exec(code.slice(a, se))?.groups?.['type']
  const attributesEnd = d === STATIC ? se : se - 1
  const given = RELATIVE.test(specifier)
    ? makeReference(start, end, specifier, kind)
    : { start, end, path: specifier, suffix: '', kind }
  return { ...given, type, attributesEnd: type === undefined ? undefined : attributesEnd }
}

const TYPE = /\btype["']?\s*:\s*(?<quote>["'])(?<type>\w+)\k<quote>/

/**
 * A specifier of any other form is a URL with a scheme, or bare (HTML, "resolve a module specifier"); authors mean
 * folders by `.` and `..`.
 */
const RELATIVE = /^(?:\.{0,2}\/|\.{1,2}$)/

/** Tells whether a reference is a bare specifier, such as `confetti`, which an import map resolves. */
export function isBare({ kind, path }: Reference): boolean {
  return isInModule({ kind }) && kind !== 'new-url' && !RELATIVE.test(path)
}

/** Matches `new URL('./logo.png', import.meta.url)`, with or without a trailing comma. */
const BEFORE_META =
  /\bnew\s+URL\s*\(\s*(?<literal>(?<quote>['"`])(?:(?!\k<quote>|\$\{)[^\\\n\r]|\\.)*\k<quote>)\s*,\s*$/
const AFTER_META = /\s*\.\s*url\s*,?\s*\)/y
/** Far longer than any path: searching the whole text for each `import.meta` would take quadratic time. */
const WINDOW = 2048

function urlReference(
  specifierIn: (code: string) => string,
  code: string,
  { s, e }: ImportSpecifier
): Reference[] {
  AFTER_META.lastIndex = e
  if (!AFTER_META.test(code)) return []
  const before = code.slice(Math.max(0, s - WINDOW), s)
  const match = BEFORE_META.exec(before)
  const { literal, quote } = match?.groups ?? {}
  if (!match || literal === undefined || quote === undefined) return []
  const start = s - before.length + match.index + match[0].indexOf(quote)
  const url = specifierIn(`import(${literal})`)
  const reference = makeReference(start, start + literal.length, url, 'new-url')
  const isDirectory = /(?:^|\/)\.{0,2}$/.test(reference.path)
  return isDirectory ? [] : [reference]
}

const ACCEPTED = /^\s*\??\.\s*hot\s*\??\.\s*accept\s*\(\s*(?:\[[^\]]*\]|(["'`]).*?\1)/

/** Finds the modules that `import.meta.hot.accept('./price', …)` names. @param at the end of `import.meta` */
function acceptedIn(code: string, at: number): Reference[] {
  const [all = ''] = ACCEPTED.exec(code.slice(at, at + WINDOW)) ?? []
  return Array.from(all.matchAll(/(["'`])(.*?)\1/g), ({ 0: { length }, 2: path = '', index }) =>
    makeReference(at + index, at + index + length, path, 'accepted')
  )
}

/** The media types that no browser imports as modules, whatever the attributes. */
const NO_MODULE =
  /^(?:image|font|audio)\/|^video\/(?!mp2t)|^(?:text\/(?:html|plain)|application\/(?:wasm|pdf|zip))$/

/** Specifiers that other tools support, by a plugin or by themselves, each with the form to write here. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [/^virtual:.*/, 'a plugin of another tool makes it: write a module in its place'],
  [/^node:.*/, 'it is a module of Node, which browsers do not have: leave it to the server'],
  [/^~(?=[@\w])(.*)/, "write '$1'"],
  [/^(\..*\.css)\?inline\b.*/, "write import … from '$1' with { type: 'css' }"],
  [/^(\..*)\?(?:no-)?(?:url|inline)\b.*/, "write new URL('$1', import.meta.url).href"],
  [/^(\..*)\?raw\b.*/, "write await (await fetch(new URL('$1', import.meta.url))).text()"],
  [
    /^(\..*)\?(?:shared)?worker\b.*/,
    "write new Worker(new URL('$1', import.meta.url), { type: 'module' })"
  ],
  [/.*\.(?:vue|svelte|astro|marko|mdx?)$/, 'it needs a compiler: add one to the option compilers']
]

/** Returns what to write for an import that browsers refuse; undefined for any other. @param to the path to name */
export function remedyFor(
  reference: Reference,
  { compilers, imports }: Pick<AppSettings, 'compilers' | 'imports'>,
  to = reference.path
): string | undefined {
  const { path, suffix, type, kind, lead } = reference
  if (kind !== 'import' && kind !== 'dynamic-import') return undefined
  const { target } = compilersFor(compilers).get(extname(path).toLowerCase()) ?? {}
  const given = (target === undefined ? path : path.replace(/\.\w*$/, withDot(target))) + suffix
  const isMapped = imports.has(path) || lead?.file !== undefined
  const [form, remedy] = FOREIGN.find(([each]) => !isMapped && each.test(given)) ?? []
  if (form && remedy !== undefined) return given.replace(form, remedy)
  const needed = mayBeAsset(reference) ? neededType(given.replace(suffix, '')) : undefined
  if (needed === undefined || needed === type) return undefined
  // Texts and bytes are proposals that some browsers have.
  if (type !== undefined && type !== 'css' && type !== 'json') return undefined
  if (needed === '') return `write new URL('${to}', import.meta.url)`
  const way =
    kind === 'import'
      ? `import … from '${to}' with { type: '${needed}' }`
      : `import('${to}', { with: { type: '${needed}' } })`
  const tag = `stylesheet('${basename(to, extname(to))}') in the page in its place, or `
  return `write ${needed === 'css' ? tag : ''}${way}`
}

/** The attribute `type` that a browser requires; empty if nothing helps, undefined for a script. */
function neededType(path: string): string | undefined {
  const media = mediaTypeOf(path) ?? ''
  if (media === 'text/css') return 'css'
  if (/[/+]json$/.test(media)) return 'json'
  return NO_MODULE.test(media) ? '' : undefined
}
