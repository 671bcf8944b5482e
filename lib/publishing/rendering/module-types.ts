// Tells which imports a browser refuses because of the type of what they lead to (HTML, "fetch a single module script").
import { mediaTypeOf } from '../../runtime/http/fields.ts'
import type { Reference } from '../references/references.ts'

/** No browser takes these for modules, whatever the attributes. */
const NO_MODULE = /^(?:image|font|audio)\/|^video\/(?!mp2t)|^text\/(?:html|plain)$/

/** Tells by its extension whether what an import leads to needs another attribute, or is no module. */
export function isRefused(reference: Reference): boolean {
  return remedyFor(reference) !== undefined
}

/** Returns what to write instead of such an import. @param path leads to the file */
export function remedyFor({ path, type, kind }: Reference, to = path): string | undefined {
  if (kind !== 'import' && kind !== 'dynamic-import') return undefined
  const needed = neededType(path)
  if (needed === undefined || needed === type) return undefined
  // Texts and bytes are proposals that some browsers have.
  if (type !== undefined && type !== 'css' && type !== 'json') return undefined
  if (needed === '') return `write new URL('${to}', import.meta.url)`
  const way =
    kind === 'import'
      ? `import … from '${to}' with { type: '${needed}' }`
      : `import('${to}', { with: { type: '${needed}' } })`
  return needed === 'css' ? `write ${way}, or stylesheet() in the page` : `write ${way}`
}

/** The attribute `type` that a browser requires; empty if nothing helps, undefined for a script. */
function neededType(path: string): string | undefined {
  const media = mediaTypeOf(path) ?? ''
  if (media === 'text/css') return 'css'
  if (/[/+]json$/.test(media)) return 'json'
  return NO_MODULE.test(media) ? '' : undefined
}
