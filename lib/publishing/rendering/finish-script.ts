// Finishes a script of an app: an extra may instrument it, then its constant expressions get their values.
import type { Project } from '../../runtime/app/extra.ts'
import type { Transform } from '../../runtime/app/transform.ts'
import { firstAnswer } from '../../runtime/concurrency.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { constantsIn } from '../references/constants.ts'
import { positionsOf, replaceReferences } from '../references/references.ts'
import type { Sourced } from '../sources/snapshot.ts'
import { shiftInlineMap, withOwnMap } from './source-map.ts'

/** @param bytes the source's, whose places are shown */
export async function finishScript(
  { app, source: { file, packageName } }: Sourced,
  written: string,
  bytes: Buffer,
  project: Project,
  isMapped = false
) {
  const name = pathFrom(project.root, file)
  if (packageName !== undefined || name.includes('node_modules/')) return undefined
  const transforms = await project.transforms()
  const ask = (each: Transform) => each.instrument?.(written, file, isMapped)
  const instrumented = await firstAnswer(transforms, ask)
  const { code: given, looked = [] } = instrumented ?? { code: written }
  const found = await constantsIn(given, app.constants)
  if (!found) return { code: given, looked, doubts: [] }
  const { references, values, unknown } = found
  const source = new TextDecoder().decode(bytes)
  const doubts = Array.from(unknown, ([expression, start]) => {
    const at = given === source ? start : source.indexOf(expression)
    const [place] = at === -1 ? [] : positionsOf(source, [at])
    const shown = place ? `:${place.line + 1}:${place.column + 1}` : ''
    const what = expression.startsWith('import') ? 'is undefined' : 'browsers do not have'
    const isGlob = expression === 'import.meta.glob'
    const remedy = isGlob ? 'import each module' : `set define: { '${expression}': … }`
    return `${name}${shown} uses ${expression}, which ${what}: ${remedy}`
  })
  if (!values.some(Boolean)) return { code: given, looked, doubts }
  // Nobody reads a map of a larger text, which is several times as long as the text.
  const isTraced = isMapped && given.length < 256 * 1024 && !given.includes('sourceMappingURL=')
  const traced = { code: isTraced ? withOwnMap(given, file) : given, references }
  const code = shiftInlineMap(replaceReferences(traced.code, references, values), traced, values)
  return { code, looked, doubts }
}
