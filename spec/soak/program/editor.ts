// Edits a site as people, build tools and deploys do, until it is told to stop.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { LOADER, moduleFile } from '../../support/typescript.ts'
import type { Dice } from './dice.ts'
import type { Report } from './report.ts'
import type { Place, Site } from './site.ts'
import { now, type Subject } from './truth.ts'

const EDIT_EVERY_MS = 60
const DEPLOY_EVERY_MS = 3000

/** A change of a random file every few milliseconds. */
export async function edit(site: Site, dice: Dice, report: Report, signal: AbortSignal) {
  const places: Place[] = ['mount', 'mount', 'folder', 'data', 'public', 'notes']
  if (!site.isPrecompiled) places.push('sources', 'sources', 'sources')
  while (!signal.aborted) {
    const place = dice.oneOf(places)
    // Nothing can be written there then.
    if (place !== 'public' || !site.full.isOn) report.count('edits', change(site, place, dice))
    await setTimeout(EDIT_EVERY_MS)
  }
}

/** @returns what was done */
function change(site: Site, place: Place, dice: Dice): string {
  if (place === 'folder') {
    if (!dice.isOneIn(10)) return 'left alone'
    site.swapFolder()
    return 'folder replaced'
  }
  const subject = dice.oneOf(site.subjects[place])
  if (place === 'sources') return changeSource(site, subject, dice)
  if (dice.isOneIn(8) && place !== 'notes') {
    site.remove(subject)
    return 'removed'
  }
  if (dice.isOneIn(3) && place !== 'notes') {
    site.overwrite(subject)
    return 'overwritten'
  }
  site.replace(subject)
  if (place === 'mount' && dice.isOneIn(2)) site.compress(subject, dice.below(3))
  return 'replaced'
}

function changeSource(site: Site, subject: Subject, dice: Dice): string {
  const isStable = site.stable.includes(subject)
  if (!isStable && dice.isOneIn(10)) {
    site.remove(subject)
    return 'source removed'
  }
  if (!isStable && subject.at % 4 === 0 && dice.isOneIn(4)) {
    site.break(subject)
    return 'source broken'
  }
  site.replaceSource(subject)
  return 'source replaced'
}

/** Edits some sources and precompiles them, again and again; every fourth time it is killed. */
export async function deploy(site: Site, dice: Dice, report: Report, signal: AbortSignal) {
  for (let round = 0; !signal.aborted; round++) {
    for (const subject of site.subjects.sources) if (dice.isOneIn(6)) site.editBeforeDeploy(subject)
    const isKilled = round % 4 === 3
    const from = now()
    const { code, said } = await precompile(site, isKilled ? dice.below(1500) : undefined)
    if (code === 0) for (const subject of site.subjects.sources) subject.settle()
    const isExpected =
      code === 0 || isKilled || (site.full.overlap(from, now()) && /ENOSPC/.test(said))
    if (!isExpected) report.violation('deploy', `precompile ended with ${code}: ${said}`)
    report.count('edits', code === 0 ? 'deployed' : isKilled ? 'deploy killed' : 'deploy refused')
    await setTimeout(DEPLOY_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

/** @param killAfter in milliseconds */
export async function precompile(site: Site, killAfter?: number) {
  const words = ['precompile', '--root', site.root, '--env', 'production']
  const child = fork(moduleFile('lib/cli.ts'), words, {
    execArgv: [...LOADER],
    silent: true,
    killSignal: 'SIGKILL',
    ...(killAfter !== undefined && { timeout: killAfter })
  })
  child.stdout?.resume()
  const [said, [code]] = await Promise.all([
    child.stderr ? text(child.stderr) : '',
    once(child, 'close') as Promise<[number | null]>
  ])
  return { code, said }
}
