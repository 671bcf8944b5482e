// The `list` command.
import { holdersOf } from '../../runtime/urls/manifest.ts'
import { readAssets, REMEDY } from '../../runtime/urls/read-manifest.ts'
import { listMounts, type ListedMount } from './listed-mounts.ts'
import { savingsByDeltas } from '../deltas/write-deltas.ts'
import { listOwn } from './own-assets.ts'
import { manifestFile } from '../../runtime/settings/public-directory.ts'
import { loadSources } from '../../publishing/sources/sources.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import { FAILED, OK } from '../../publishing/cli/command.ts'
import { weigh } from './weight.ts'
import { weightText } from './weight-text.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { warnOnce } from '../../runtime/errors.ts'
import type { Command, Project } from '../../runtime/app/parts.ts'
import { formatBytes, savingsText, table } from '../../publishing/cli/format.ts'

export const list: Command = {
  name: 'list',
  summary: 'list every asset, and the files of bundles, with source and size',
  about: `Prints a line for each asset: its plain URL path, its source, its size and the path
of the fingerprinted file. The last two come from the manifest and are missing for
assets that are not precompiled yet.

Then come the mounts, and each file that a bundler's manifest names: its source, its
size and those of its compressed copies, and the entries whose tags include it; in
parentheses, those that use it in another way, such as by a dynamic import. A file
that is missing is listed as such.

Where there are deltas from earlier versions, it says what they save.

With --entry, lists what a page loads for a script or a stylesheet instead, by
package and file, in bytes of brotli: from the last precompile, else estimated from
the sources.`,
  options: {
    entry: {
      value: 'NAME',
      multiple: true,
      description: 'what a page with this script or stylesheet loads (may be repeated)'
    }
  },
  examples: [
    ['koa-fresh-assets list', 'What is published, and from where?'],
    ['koa-fresh-assets list --entry app', 'What do app.js and app.css cost a visitor?']
  ],
  async run({ output, loadProject, values: { entry } }) {
    const project = await loadProject('deployment')
    if (entry) {
      const sources = await loadSources(project, warnOnce())
      const weight = await weigh({ settings: project, sources }, entry)
      output.result(weight, weightText(weight))
      return weight.entries.length > 0 ? OK : FAILED
    }
    const assets = await listAssets(project)
    const mounts = await listMounts(project)
    const isBuilt = assets.length === 0 || assets.some(({ target }) => target !== undefined)
    const text = [
      ...(assets.length === 0 ? [] : [assetsText(assets)]),
      ...(isBuilt ? [] : [`None of them is precompiled: ${REMEDY}`]),
      ...(mounts.length === 0 ? [] : mountsText(mounts))
    ]
    output.result([...assets, ...mounts.flatMap(asAssets)], text.join('\n\n') || 'No assets found.')
    return OK
  }
}

type ListedAsset = Awaited<ReturnType<typeof listAssets>>[number]

const CONCURRENCY = 16

/** @throws AssetError for a broken manifest */
export async function listAssets(project: Project) {
  if (!project.servesPublic) return []
  const published = await readAssets(manifestFile(project))
  const holders = holdersOf(published)
  const own = await listOwn(project, await loadSources(project, warnOnce()), published)
  const savings = await savingsByDeltas(project)
  return inParallel(own, CONCURRENCY, async ({ path, source, entry }) => {
    const { target, size, sources } = entry ?? {}
    const deltas = entry && (await savings(entry))
    return { path, source, target, size, sources, partOf: holders.get(path), deltas }
  })
}

const sizeText = (size: number | undefined, missing = '-') =>
  size === undefined ? missing : formatBytes(size)

function assetsText(assets: readonly ListedAsset[]): string {
  const optional = assets.some(({ deltas }) => deltas) ? ['deltas'] : []
  const rows = assets.map(asset => {
    const { path, source, sources = [], partOf, size, deltas } = asset
    const others = sources.length > 1 ? ` and ${sources.length - 1} more` : ''
    const target = asset.target ?? (partOf === undefined ? '-' : `in ${partOf}`)
    const values = optional.map(() => (deltas ? savingsText(deltas) : ''))
    return [path, source + others, sizeText(size), target, ...values]
  })
  return table([['asset', 'source', 'size', 'target', ...optional], ...rows], [2])
}

/** Gives the files of mounts the fields of an asset, and their own. */
function asAssets({ files, problem, ...listed }: ListedMount): object[] {
  const { mount, directory } = listed
  const itself = { path: mount, source: directory, target: mount, ...listed, problem }
  const named = files.map(file => {
    const size = file.sizes['identity']
    const target = size === undefined ? undefined : file.path
    return { ...file, source: file.source ?? '', target, size, mount, isMissing: !target }
  })
  return [itself, ...named]
}

function mountsText(mounts: readonly ListedMount[]): string[] {
  const rows = mounts.map(({ mount, directory, manifest = '-', problem = '' }) => {
    return [mount, directory, manifest, problem]
  })
  const heading = ['file', 'source', 'size', ...CODINGS.map(({ name }) => name), 'entries']
  const files = mounts.flatMap(each => each.files)
  const named = files.map(({ path, source = '-', sizes, entries, usedBy }) => [
    path,
    source,
    sizeText(sizes['identity'], 'missing'),
    ...CODINGS.map(({ name }) => sizeText(sizes[name])),
    [...entries, ...usedBy.map(name => `(${name})`)].join(', ')
  ])
  const isRight = [2, ...CODINGS.map((_, at) => at + 3)]
  return [
    table([['mount', 'directory', 'manifest'], ...rows]),
    ...(named.length > 0 ? [table([heading, ...named], isRight)] : [])
  ]
}
