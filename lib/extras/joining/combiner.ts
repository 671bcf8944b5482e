// Implements the member `bundler` of an extra.
import { findPeer, loadPeer, missingPeer } from '../../assets/compilers/built-in.ts'
import type { Project } from '../../assets/parts.ts'
import type { AppSettings } from '../../assets/settings/settings.ts'
import type { Combiner } from './combining.ts'
import { join, type Rolldown } from './join.ts'
import type { JoinReport, JoinRow } from './options.ts'
import { cycleOf } from './package-files.ts'
import { planOf } from './plan.ts'

const PEER = ['rolldown']
const PURPOSE = 'joining modules'

/** The mode is false for an app whose modules stay as they are. */
const modeOf = ({ fingerprint, bundle = 'packages' }: AppSettings) => fingerprint && bundle

export async function adapts({ root }: Project): Promise<(app: AppSettings) => boolean> {
  const isThere = (await findPeer(PEER, root)) !== undefined
  return app => isThere && modeOf(app) !== false
}

const NONE: JoinReport = { modules: 0, insteadOf: 0, files: 0, bytes: 0 }
const NOTHING = { replaced: [], made: [] }

export async function makeCombiner(
  project: Project,
  isMinified: (app: AppSettings) => boolean
): Promise<Combiner> {
  const { root } = project
  const isReady = (await findPeer(PEER, root)) !== undefined
  let joined: JoinReport | undefined
  return {
    takes(app, { packageName }) {
      const mode = modeOf(app)
      return mode === true || (mode === 'packages' && packageName !== undefined)
    },
    isReady,
    async combine(app, scripts, named) {
      const mode = modeOf(app)
      if (mode === false) return NOTHING
      const moved = new Set<string>()
      const planned = () => planOf(scripts, named, { mode, moved })
      const plan = await planned()
      if (plan.modules.size === 0) return NOTHING
      joined ??= NONE
      if (!isReady && app.bundle === undefined) {
        joined = { ...joined, problem: missingPeer(PEER, PURPOSE) }
        return NOTHING
      }
      const rolldown = (await loadPeer(PEER, PURPOSE, root)) as Rolldown
      const options = { root, app, isMinified: isMinified(app) }
      const replaced = [...plan.modules]
      let result = await join(rolldown, { ...options, plan })
      while (result.moved.length > 0) {
        for (const path of result.moved) for (const each of cycleOf(path, scripts)) moved.add(each)
        result = await join(rolldown, { ...options, plan: await planned() })
      }
      const { made } = result
      const sizes = replaced.map(([, { code }]) => Buffer.byteLength(code))
      joined = {
        modules: joined.modules + replaced.length,
        insteadOf: sizes.reduce((a, b) => a + b, joined.insteadOf),
        files: joined.files + made.length,
        bytes: made.reduce((sum, { code }) => sum + Buffer.byteLength(code), joined.bytes)
      }
      return { replaced: replaced.map(([path]) => path), made }
    },
    report: (): JoinRow => ({ joined })
  }
}
