// What the log of this spec's process was told, from the moment on at which this file is imported.
const warnings: string[] = []

console.warn = (...parts: unknown[]) => void warnings.push(parts.map(String).join(' '))

/** All that hold the text, in order; pass something that only one spec uses. */
export function warningsAbout(text: string): string[] {
  return warnings.filter(warning => warning.includes(text))
}
