// Keeps the index of plain names in `node_modules/.cache`, so that a restarted server compiles nothing.
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { digestOf } from '../../runtime/files/digest.ts'
import { ignoreSystemError, undefinedIfMissing, statOf } from '../../runtime/files/disk.ts'
import { writeAtomically } from '../../publishing/writing/write.ts'
import { firstAnswer, once } from '../../runtime/concurrency.ts'
import { compilersFor, isBuiltIn, PEERS } from '../../publishing/compilers/built-in.ts'
import { nodeModulesFrom } from '../../publishing/compilers/compiler.ts'
import type { IndexKeeper } from '../../runtime/app/extra.ts'
import { appAt } from '../../runtime/settings/apps.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { assetSources } from '../../runtime/settings/third-party.ts'
import { hasSameTargets, NEVER, type IndexEntry } from '../../publishing/building/mtime-index.ts'
import { Publishing } from '../../publishing/building/on-request.ts'

/** An entry is saved this long after it was made, together with later ones. */
const DELAY_MS = 1000

/** The file of this code; undefined if everything was joined into one CommonJS file. */
const OWN_FILE = import.meta.filename as string | undefined

interface Kept {
  state: string
  entries: [path: string, entry: Omit<IndexEntry, 'generation' | 'draft'>][]
  asked: unknown[]
}

export function keepIndex(publishing: unknown): IndexKeeper | undefined {
  if (!(publishing instanceof Publishing)) return undefined
  const { settings, sources } = publishing
  const { index } = publishing.plain
  if (!settings.apps.some(app => app.compile && !app.fingerprint)) return undefined
  /** The stamps at the start of this process: a replaced compiler stays loaded. */
  const code = once(() => stampsOfCode(settings.root, OWN_FILE))
  void code().catch(ignoreSystemError)
  const generationAt = (path: string): number | undefined => {
    const app = appAt(settings, path)
    return app && sources.of(app).generation
  }
  const asking = () =>
    settings.apps.flatMap(app => sources.of(app).lists).filter(each => each.asked !== undefined)
  /** Another Node, other code or other options may make something else of the same sources. */
  const state = async () => {
    const circumstances = [process.version, await code(), optionsOf(settings)]
    return digestOf(JSON.stringify([circumstances, await listing(settings, sources)]))
  }
  const restore = async () => {
    const kept = await readKept(settings)
    if (!kept) return
    const isSame = kept.state === (await state())
    if (isSame) asking().forEach((list, at) => (list.asked = kept.asked[at]))
    for (const [path, entry] of kept.entries) {
      const generation = isSame && entry.isReproducible ? generationAt(path) : NEVER
      if (generation !== undefined) index.set(path, { ...entry, generation })
    }
    // After a change of files to which stylesheets refer, this forgets them all.
    await Promise.all(asking().map(list => list.verify()))
  }
  const save = async () => {
    const file = await fileFor(settings)
    if (!file) return
    // Nothing is awaited between this listing and the entries.
    const last = await state()
    // The most recently used entry comes last, so that restoring keeps the order.
    const entries = index.dump().map(([path, { value }]): Kept['entries'][number] => {
      const { source, inputs, targets, generation } = value
      const isReproducible = value.isReproducible === true && generation === generationAt(path)
      return [path, { source, inputs, targets, isReproducible }]
    })
    const asked = asking().map(list => list.asked)
    const kept = serialize({ state: last, entries, asked } satisfies Kept)
    await writeAtomically(file, Buffer.concat([Buffer.from(digestOf(kept)), kept]))
  }
  let timer: NodeJS.Timeout | undefined
  return {
    // An index that cannot be read or written only costs the next process time.
    restored: once(() => restore().catch(ignoreSystemError)),
    saveSoon() {
      timer ??= setTimeout(() => {
        timer = undefined
        void save().catch(ignoreSystemError)
      }, DELAY_MS).unref()
    }
  }
}

/** Returns the URL paths of the files that earlier processes have written, unless somebody has replaced them. */
export async function writtenBefore(settings: Settings): Promise<readonly string[]> {
  const { entries = [] } = (await readKept(settings).catch(ignoreSystemError)) ?? {}
  const areSame = await Promise.all(entries.map(([, entry]) => hasSameTargets(entry)))
  return entries.flatMap(([path], at) => (areSame[at] ? path : []))
}

/** The digest that begins the file: no damaged or foreign one has it. */
const SEAL_BYTES = digestOf('').length

async function readKept(settings: Settings): Promise<Kept | undefined> {
  const file = await fileFor(settings)
  const bytes = file && (await undefinedIfMissing(readFile(file)))
  if (!bytes) return undefined
  const sealed = bytes.subarray(SEAL_BYTES)
  const isWhole = bytes.toString('latin1', 0, SEAL_BYTES) === digestOf(sealed)
  return isWhole ? (deserialize(sealed) as Kept) : undefined
}

/** Returns undefined if there is no `node_modules` for it, or this package was joined into another file. */
async function fileFor(settings: Settings): Promise<string | undefined> {
  if (OWN_FILE === undefined) return undefined
  const name = digestOf(publicFile(settings, settings.prefix))
  const folders = nodeModulesFrom(settings.root)
  const folder = await firstAnswer(folders, async each => (await statOf(each)) && each)
  return folder && join(folder, '.cache/koa-fresh-assets', name)
}

function optionsOf({ root, env, base, prefix, symlinks, apps }: Settings): object {
  const own = apps.map(({ compilers }) =>
    [...compilersFor(compilers)].flatMap(([end, compiler]) => (isBuiltIn(compiler) ? [] : end))
  )
  // Some options are not JSON, such as a dev server.
  const settled = apps.map(app => ({ ...app, given: undefined, compilers: undefined }))
  return { root, env, base, prefix, symlinks, apps: settled, own, thirdParty: assetSources.list() }
}

/** Digests the names of all sources. If they differ, entries only tell which files were published from which. */
async function listing(settings: Settings, sources: Sources): Promise<string> {
  const { generation } = sources
  const lists = await Promise.all(settings.apps.map(app => sources.of(app).list()))
  if (generation !== sources.generation) return listing(settings, sources)
  const names = lists
    .flat()
    .flatMap(({ source, rivals, shadowed }) => [source, ...rivals, ...shadowed])
    .flatMap(({ name, file, asItIs }) => (asItIs === 'asked' ? [] : [name, file]))
  return digestOf(JSON.stringify(names))
}

/** Returns the stamps of this package and of the places of compilers, which every installation changes. */
async function stampsOfCode(root: string, own = ''): Promise<readonly string[]> {
  const folders = [root, dirname(own)].flatMap(nodeModulesFrom)
  const files = PEERS.flatMap(name => folders.map(at => join(at, name, 'package.json')))
  const stats = await Promise.all([own, ...files].map(statOf))
  return stats.map(stamp => (stamp ? `${stamp.ino} ${stamp.mtimeNs} ${stamp.ctimeNs}` : ''))
}
