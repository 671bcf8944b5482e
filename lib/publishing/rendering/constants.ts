// Gives expressions in a script the values that they have in an app.
import { pathFrom } from '../../runtime/files/paths.ts'
import { constantsIn } from '../references/constants.ts'
import { positionsOf, replaceReferences } from '../references/references.ts'
import type { Sourced } from '../sources/snapshot.ts'
import { shiftInlineMap, withOwnMap } from './source-map.ts'

/** @param bytes are those of the source, whose places are shown */
export async function withConstants(
  { app, source: { file, packageName } }: Sourced,
  given: string,
  bytes: Buffer,
  { root, sourceMap }: { readonly root: string; readonly sourceMap?: boolean | undefined }
) {
  const name = pathFrom(root, file)
  const isOwn = packageName === undefined && !name.includes('node_modules/')
  const found = isOwn ? await constantsIn(given, app.constants) : undefined
  if (!found) return { code: given, warnings: [] }
  const { references, values, unknown } = found
  const source = new TextDecoder().decode(bytes)
  const warnings = Array.from(unknown, ([expression, start]) => {
    const at = given === source ? start : source.indexOf(expression)
    const [place] = at === -1 ? [] : positionsOf(source, [at])
    const shown = place ? `:${place.line + 1}:${place.column + 1}` : ''
    const what = expression.startsWith('import') ? 'is undefined' : 'no browser has'
    return `${name}${shown} uses ${expression}, which ${what}: set define: { '${expression}': … }`
  })
  if (!values.some(Boolean)) return { code: given, warnings }
  // A map of so much is none that somebody reads, and several times as long as the text.
  const isMapped = sourceMap && given.length < 256 * 1024 && !given.includes('sourceMappingURL=')
  const text = { code: isMapped ? withOwnMap(given, file) : given, references }
  const code = shiftInlineMap(replaceReferences(text.code, references, values), text, values)
  return { code, warnings }
}
