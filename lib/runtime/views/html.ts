// Writes HTML tags; no attribute value can break out of one.
import { inspect } from 'node:util'
import { checked, entriesGiven, isRecord, optionError, record } from '../check-options.ts'
import { escaped } from '../errors.ts'

/** `true` is written as `name="name"`; `false` and `null` omit the attribute. */
export type AttributeValue = string | number | boolean | null | undefined

/**
 * Attributes of a tag, by name. An attribute that the helper writes itself keeps its position and
 * takes the value given here; `undefined` counts as not given. Names are written in lower case.
 */
export interface Attributes {
  readonly [name: string]: AttributeValue
}

// Nunjucks adds this key to the object that it makes from keyword arguments, as in `image('a.png', width=10)`.
const NUNJUCKS_KEY = '__keywords'

export function withoutKeywords<Options>(options: Options): Options {
  if (!isRecord(options)) return options
  return Object.fromEntries(
    Object.entries(options).filter(([name]) => name !== NUNJUCKS_KEY)
  ) as Options
}

// This is stricter than the HTML standard: `<` in a name is a parse error, but allowed.
const ATTRIBUTE_NAME = /^[^\s\p{Cc}"'<>/=]+$/u

// HTML compares names case-insensitively, so `crossOrigin` must match `crossorigin`.
export function readAttributes(given: unknown): Attributes {
  const attributes = entriesGiven(withoutKeywords(checked(given, record, 'attributes'))).map(
    ([name, value]) => {
      if (!ATTRIBUTE_NAME.test(name))
        throw new TypeError(`${inspect(name)} cannot be the name of an HTML attribute`)
      if (value !== null && !['string', 'number', 'boolean'].includes(typeof value))
        throw optionError(`attribute ${name}`, 'a string, a number, a boolean or null', value)
      return [name.toLowerCase(), value]
    }
  )
  return Object.fromEntries(attributes) as Attributes
}

/** Writes `<name a="…" b="…">`: each attribute at its first position, with its last value. */
export function openTag(name: string, ...layers: readonly Attributes[]): string {
  const attributes: Attributes = Object.assign(Object.create(null), ...layers)
  let written = ''
  for (const key in attributes) written += writeAttribute(key, attributes[key])
  return `<${name}${written}>`
}

export function writeAttribute(name: string, value: AttributeValue): string {
  if (value === false || value == null) return ''
  return ` ${name}="${escapeHtml(value === true ? name : String(value))}"`
}

export function escapeHtml(text: string): string {
  if (!/[&<>"']/.test(text)) return text
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** HTML has no character references inside `<script>`; JSON has its own escapes. */
export const escapeInScript = (json: string): string => json.replace(/[<>\u2028\u2029]/g, escaped)
