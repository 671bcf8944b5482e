// What the name and the value of a field can contain (RFC 9110 sections 5.1 and 5.5).

const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/
// Tabs, and characters that are one byte each (obs-text), but no other control characters.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export function isFieldName(text: string): boolean {
  return NAME.test(text)
}

export function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && VALUE.test(value)
}
