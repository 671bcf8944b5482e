// What precompile asks of this extra.
import { reasonOf } from '../../errors.ts'
import { loadPeer } from '../../assets/compilers/built-in.ts'
import type { Site } from '../../assets/parts.ts'
import type { Combiner } from './combining.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'
import { count, formatBytes } from '../../cli/format.ts'
import { join, type Rolldown } from './join.ts'
import type { JoinReport, JoinRow } from './options.ts'
import { planOf } from './plan.ts'

const NONE: JoinReport = { modules: 0, insteadOf: 0, files: 0, bytes: 0 }

/** Which apps are joined, and how. @throws AssetError where one asks for Rolldown, and it is not installed */
async function choose({ root, apps }: Pick<Site, 'root' | 'apps'>) {
  const wanted = apps.filter(({ fingerprint, bundle }) => fingerprint && bundle !== false)
  const isAsked = wanted.some(({ bundle }) => bundle !== undefined)
  const modeOf = (app: AppSettings) => wanted.includes(app) && (app.bundle ?? 'packages')
  try {
    const rolldown = wanted.length > 0 && (await loadPeer(['rolldown'], 'joining modules', root))
    return { modeOf, rolldown: (rolldown || undefined) as Rolldown | undefined }
  } catch (error) {
    if (isAsked) throw error
    return { modeOf, problem: reasonOf(error) }
  }
}

export async function adapts(site: Site): Promise<(app: AppSettings) => boolean> {
  const { modeOf, rolldown } = await choose(site)
  return app => rolldown !== undefined && modeOf(app) !== false
}

export async function makeCombiner(
  site: Site,
  isMinified: (app: AppSettings) => boolean
): Promise<Combiner> {
  const { root } = site
  const { modeOf, rolldown, problem } = await choose(site)
  let report: JoinReport = problem === undefined ? NONE : { ...NONE, problem }
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
