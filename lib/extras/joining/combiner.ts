// What precompile asks of this extra.
import { reasonOf } from '../../errors.ts'
import { loadPeer } from '../../assets/compilers/built-in.ts'
import type { Site } from '../../assets/parts.ts'
import type { Combiner } from '../../assets/parts/combining.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'
import { count, formatBytes } from '../../cli/format.ts'
import { join, type Rolldown } from './join.ts'
import type { JoinReport, JoinRow } from './options.ts'
import { planOf } from './plan.ts'

const NONE: JoinReport = { modules: 0, insteadOf: 0, files: 0, bytes: 0 }

/** @throws AssetError where an app asks for Rolldown, and it is not installed */
export async function makeCombiner(
  { root, apps }: Site,
  isMinified: (app: AppSettings) => boolean
): Promise<Combiner> {
  const wanted = apps.filter(({ fingerprint, bundle }) => fingerprint && bundle !== false)
  const isAsked = wanted.some(({ bundle }) => bundle !== undefined)
  let report = NONE
  const rolldown = (await loadPeer(['rolldown'], 'joining modules', root).catch(
    (error: unknown) => {
      if (isAsked) throw error
      report = { ...NONE, problem: reasonOf(error) }
    }
  )) as Rolldown | undefined
  const modeOf = (app: AppSettings) => wanted.includes(app) && (app.bundle ?? 'packages')
  let mayHave = false
  return {
    takes(app, { group }) {
      const mode = modeOf(app)
      const isTaken = mode === true || (mode === 'packages' && group !== undefined)
      mayHave ||= isTaken
      return isTaken && rolldown !== undefined
    },
    async combine(app, scripts, named) {
      const mode = modeOf(app)
      if (!rolldown || !mode) return { replaced: [], made: [] }
      const plan = await planOf(scripts, named, mode)
      const { modules } = plan
      if (modules.size === 0) return { replaced: [], made: [] }
      const made = await join(rolldown, { root, app, isMinified: isMinified(app), plan })
      const sizes = [...modules.values()].map(({ code }) => Buffer.byteLength(code))
      report = {
        modules: report.modules + modules.size,
        insteadOf: sizes.reduce((a, b) => a + b, report.insteadOf),
        files: report.files + made.length,
        bytes: made.reduce((sum, { code }) => sum + Buffer.byteLength(code), report.bytes)
      }
      return { replaced: modules.keys(), made }
    },
    report: (): JoinRow => ({ joined: mayHave ? report : undefined })
  }
}

export function rowsOf({ joined }: JoinRow): (readonly [heading: string, text: string])[] {
  if (!joined) return []
  const { modules, insteadOf, files, bytes, problem } = joined
  const what = `${count(modules, 'module')} of ${formatBytes(insteadOf)}`
  return [['Joined', problem ?? `${what} in ${count(files, 'file')} of ${formatBytes(bytes)}`]]
}
