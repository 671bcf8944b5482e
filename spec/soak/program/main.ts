// npm run lane traffic [-- --minutes 10] [--seed 1] [--no-disk]: mixed traffic over sites that change all the time. Exits
// with 1 when a body was wrong, something was reported that nothing explains, or memory or descriptors grew.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LOADER } from '../../support/typescript.ts'
import { words } from '../../support/texts.ts'
import { until } from '../../support/until.ts'
import { hangUp } from './clients.ts'
import { Dice } from './dice.ts'
import { deploy, edit, precompile } from './editor.ts'
import { Report } from './report.ts'
import { Site, type SiteSetup } from './site.ts'
import { Visitor } from './traffic.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    'own-mounts': { type: 'boolean', default: false }
  }
})
/** So little that it is full soon. */
const maxBytes = 8 * 2 ** 20
const SETUPS: readonly SiteSetup[] = [
  { name: 'development', number: 1, options: { env: 'development', memory: { maxBytes } } },
  {
    name: 'live',
    number: 2,
    options: { env: 'production', compile: true, memory: { maxBytes, maxFileBytes: 2000 } }
  },
  { name: 'production', number: 3, options: { env: 'production', memory: { maxBytes } } }
]
/** A shorter run warms up all the time. */
const JUDGED_FROM_MS = 150_000
const VISITORS = 12
const AT_REST_TIMES = 500
const PATIENT = ['HTTP/1', 'HTTP/1', 'HTTP/2', 'pipelined', 'leaving', 'page']

/** In a mount namespace of its own, a disk can be filled: root may make one, others where the system lets them. */
function enterNamespace(): number | undefined {
  if (values['own-mounts']) return undefined
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const mounting = words('--mount mount -t tmpfs tmpfs /mnt')
  if (spawnSync('unshare', [...asRoot, ...mounting]).status !== 0) return undefined
  const program = [process.execPath, ...LOADER, ...process.argv.slice(1), '--own-mounts']
  return spawnSync('unshare', [...asRoot, '--mount', ...program], { stdio: 'inherit' }).status ?? 1
}

const isPrecompiled = (site: Site) => site.isPrecompiled

async function soak(): Promise<number> {
  const ms = Number(values.minutes) * 60_000
  const dice = new Dice(Number(values.seed) * 7919 + 1)
  const report = new Report()
  const sites = SETUPS.map(setup => new Site(setup))
  try {
    for (const site of sites) {
      const disk = join(site.root, 'public')
      if (values['own-mounts']) run('mount', words(`-t tmpfs -o size=64m tmpfs ${disk}`))
      site.populate()
      if (isPrecompiled(site)) await precompile(site)
      for (const replica of site.replicas) await replica.start()
    }
    const stop = AbortSignal.timeout(ms)
    const visitor = () => new Visitor(sites, dice, report)
    await Promise.all([
      ...Array.from({ length: VISITORS }, () => visitor().visit(stop, PATIENT)),
      ...[1, 2].map(() => visitor().visit(stop, ['slow'])),
      ...sites.map(site => edit(site, dice, report, stop)),
      ...sites.filter(isPrecompiled).map(site => deploy(site, dice, report, stop)),
      restart(sites, dice, report, stop),
      fill(sites, report, stop),
      sample(sites, report, stop, ms / 60)
    ])
    hangUp()
    report.judgeSamples(ms >= JUDGED_FROM_MS)
    await checkRest(sites, report)
  } finally {
    for (const site of sites) {
      for (const replica of site.replicas) await replica.stop()
      if (values['own-mounts']) run('umount', ['--lazy', join(site.root, 'public')])
      rmSync(site.root, { recursive: true, force: true })
    }
  }
  for (const site of sites) judgeErrors(site, report)
  console.log(`${String(report)}\n${report.isClean ? 'nothing was wrong' : 'something was wrong'}`)
  return report.isClean ? 0 : 1
}

function run(command: string, given: readonly string[]): void {
  const { status, stderr } = spawnSync(command, given)
  if (status !== 0) throw new Error(`${command} ${given.join(' ')}: ${String(stderr)}`)
}

type Sites = readonly Site[]

/** The second replica of a site, killed or asked to end. */
async function restart(sites: Sites, dice: Dice, report: Report, signal: AbortSignal) {
  while (!signal.aborted) {
    await pause(4000, signal)
    const signalName = dice.oneOf(['SIGKILL', 'SIGTERM'] as const)
    await dice.oneOf(sites).replicas[1].restart(signalName)
    report.count('replicas restarted', signalName)
  }
}

async function fill(sites: Sites, report: Report, signal: AbortSignal): Promise<void> {
  if (!values['own-mounts']) {
    report.count('disks', 'not filled: that needs a mount namespace (run it as root)')
    return
  }
  for (let turn = 0; !signal.aborted; turn++) {
    await pause(5000, signal)
    const site = sites[turn % sites.length] as Site
    site.fill()
    await pause(2000, signal)
    site.free()
    report.count('disks', `filled and freed in ${site.setup.name}`)
  }
}

/** The first replica of each site, which is never restarted. */
async function sample(sites: Sites, report: Report, signal: AbortSignal, every: number) {
  while (!signal.aborted) {
    for (const { replicas, setup } of sites)
      report.sample({ site: setup.name, ...(await replicas[0].measure()) })
    await pause(every, signal)
  }
}

/** Once nobody asks any more, no file of a project is open. */
async function checkRest(sites: Sites, report: Report): Promise<void> {
  for (const { replicas, setup } of sites) {
    for (const replica of replicas) {
      let { files, descriptors } = await replica.measure()
      const isAtRest = async () => {
        ;({ files, descriptors } = await replica.measure())
        return files === 0
      }
      await until(isAtRest, 'no file is open', AT_REST_TIMES).catch(() => undefined)
      report.count('at rest', `${setup.name}: ${files} files open, ${descriptors} descriptors`)
      if (files > 0) report.violation('descriptors', `${files} files of ${setup.name} stay open`)
    }
  }
}

/** What an application may report: a source that the soak broke, or edited during each of three builds, and a full disk. */
function judgeErrors(
  { errors, setup, isPrecompiled, brokenNames, full }: Site,
  report: Report
): void {
  const isFilled = full.overlap(0, Infinity)
  for (const error of errors) {
    const isBroken = [...brokenNames].some(name => error.includes(`/${name}`))
    const isFull = isFilled && error.includes('ENOSPC')
    const isEdited = !isPrecompiled && error.includes('was edited while it was published')
    const reasons = {
      'a broken source': isBroken,
      'a full disk': isFull,
      'an edited source': isEdited
    }
    const [reason] = Object.entries(reasons).find(([, holds]) => holds) ?? []
    report.count('reported by applications', `${setup.name}: ${reason ?? 'unexplained'}`)
    if (reason === undefined) report.violation('error', `${setup.name} ${error}`)
  }
}

/** In milliseconds. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined)
}

process.exitCode = enterNamespace() ?? (await soak())
