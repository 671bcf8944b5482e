// Writes the names of all assets as types, `assets.d.ts`, so that a mistyped name does not compile.
import { setTimeout } from 'node:timers/promises'
import { oneAtATime } from '../../runtime/concurrency.ts'
import { reasonOf, printable, warnOnce, type Warn } from '../../runtime/errors.ts'
import { bytesOf, statOf } from '../../runtime/files/disk.ts'
import { writeAtomically } from '../../publishing/writing/write.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import type { Project } from '../../runtime/app/extra.ts'
import { mediaType } from '../../runtime/views/asset-url.ts'
import { namesInMounts } from '../vite/bundles.ts'
import { loadSources } from '../../publishing/sources/sources.ts'
import { typesFile } from './options.ts'

// Packages may have other files in development; with `test`, mounts accept any name of a bundle that is not built.
export async function namedInProduction(given: Project, warn: Warn, running?: Pipeline) {
  const project = given.changed({ env: 'production' }, true)
  const known = () => namesInMounts({ ...project, env: 'test' }, warn, running?.running)
  return { project, sources: await loadSources(project, warn), known }
}

type Named = Awaited<ReturnType<typeof namedInProduction>>

export async function writeNameTypes(named: Named): Promise<boolean> {
  const file = typesFile(named.project)
  const text = await nameTypes(named)
  if (text === (await bytesOf(file))?.toString()) return false
  await writeAtomically(file, Buffer.from(text))
  return true
}

/** Writes an existing file now, and again whenever a source is added or removed, until the file is removed. */
export async function keepNameTypes(pipeline: Pipeline): Promise<void> {
  const file = typesFile(pipeline.settings)
  const warn = warnOnce()
  const fail = (error: unknown) => warn(`cannot update ${file}: ${reasonOf(error)}`)
  const named = await namedInProduction(pipeline.settings, () => undefined, pipeline).catch(fail)
  if (!named) return
  const { project, sources } = named
  let generation: number | undefined
  const update = oneAtATime(async () => {
    // A checkout changes many files at once.
    if (generation !== undefined) await setTimeout(100, undefined, { ref: false })
    await Promise.all(project.apps.map(app => sources.of(app).refresh()))
    if (generation === sources.generation) return
    if (!(await statOf(file))) return end()
    generation = sources.generation
    await writeNameTypes(named)
  })
  const start = () => void update().catch(fail)
  const end = sources.onEvent(start)
  start()
}

async function nameTypes({ project: { apps }, sources, known }: Named): Promise<string> {
  const listed = await Promise.all(apps.map(app => sources.of(app).list()))
  const own = listed.flat().flatMap(({ app, source }) => {
    return [source.name, ...(app.tails ? sources.of(app).tailsOf(source).own : [])]
  })
  const built = await known()
  // A name in a page ends at a `?` or a `#`.
  const names = new Set([...own, ...(built?.sources ?? [])].filter(name => !/[?#]/.test(name)))
  const ofKinds = KINDS.map(kind => {
    const ofKind = literals([...names].filter(name => kindOfName(name) === kind))
    return member(kind, (built?.hasAllSources ?? true) ? ofKind : [...ofKind, IN_A_FOLDER])
  })
  const ofApps = apps.length > 0 ? member('apps', literals(apps.map(({ name }) => name))) : ''
  const entries = built?.hasAllEntries ? literals(built.entries) : ['string']
  return HEAD + ofApps + ofKinds.join('') + (built ? member('entries', entries) : '') + TAIL
}

const KINDS = ['scripts', 'styles', 'images', 'others']
/** The names of a bundle that has not been built, or is compiled by a dev server, contain a slash. */
const IN_A_FOLDER = '`${string}/${string}`'

const HEAD = `// The names of all assets. Written by \`npx koa-fresh-assets types\`, and kept current in development.
export {}

declare global {
  interface KoaFreshAssetNames {
`
const TAIL = '  }\n}\n'

function kindOfName(name: string): string {
  const type = mediaType(name) ?? ''
  if (type === 'text/javascript') return 'scripts'
  if (type === 'text/css') return 'styles'
  return type.startsWith('image/') ? 'images' : 'others'
}

const literals = (names: Iterable<string>) =>
  [...names].toSorted().map(name => printable(JSON.stringify(name)))

function member(name: string, types: readonly string[]): string {
  const union = types.length === 0 ? ' never' : types.map(type => `\n      | ${type}`).join('')
  return `    ${name}:${union}\n`
}
