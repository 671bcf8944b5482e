// Declares the commands `explain` and `list`.
import { count, formatBytes, table } from '../../publishing/cli/command.ts'
import { projectOf } from '../../publishing/cli/config.ts'
import { loadSources } from '../../publishing/sources/sources.ts'
import type { Command, Project } from '../../runtime/app/extra.ts'
import { Pipeline } from '../../runtime/app/pipeline.ts'
import { helpAt, warnOnce } from '../../runtime/errors.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import { manifestFile } from '../../runtime/settings/public-directory.ts'
import { holdersOf } from '../../runtime/urls/manifest.ts'
import { readAssets, REMEDY } from '../../runtime/urls/read-manifest.ts'
import { explain } from './explain.ts'
import { listMounts, listOwn, type ListedMount } from './list.ts'
import { weigh, type Weight } from './weight.ts'

const explainCommand: Command = {
  name: 'explain',
  summary: 'show step by step how a URL or a name is resolved',
  argument: '<url or name>',
  about: `Follows a path from the request to the response: whether it is an asset path,
which app it belongs to, which directories are searched and what they contain,
what view helpers emit, and which file is sent with which headers. The environment
is by default development. Nothing is written. The exit status is 1 when the
response is not a file.`,
  examples: [
    ['koa-fresh-assets explain /assets/app.css', 'Where does this stylesheet come from?'],
    ['koa-fresh-assets explain app.css --env production', 'And in production?']
  ],
  async run(call) {
    const pipeline = new Pipeline(await projectOf(call, 'development'), () => undefined)
    const explanation = await explain(pipeline, call.args[0] ?? '')
    const { steps, outcome, isFound, verdict } = explanation
    const reason = verdict?.reason === undefined ? [] : [['', verdict.reason]]
    const advice = reason.length > 0 ? 'errors.md' : 'troubleshooting.md#a-404'
    const help = isFound ? [] : [['help', pipeline.failure?.help ?? helpAt(advice)]]
    const lines = steps.flatMap(({ subject, finding, details }) => [
      [subject, finding],
      ...details.map(detail => ['', detail])
    ])
    const text = table([...lines, ['response', outcome], ...reason, ...help])
    return call.output.result(explanation, text, isFound)
  }
}

const listCommand: Command = {
  name: 'list',
  summary: 'list every asset, and the files of bundles, with source and size',
  about: `Prints a line for each asset: its plain URL path, its source, its size and the path
of the fingerprinted file, once it is precompiled.

Then come the mounts, and each file that a bundler's manifest names: its source, its
size, those of its compressed copies, and the entries whose tags include it.

With --entry, lists what a page loads for a script or a stylesheet instead, by
package and file, in bytes of brotli, by the last precompile.`,
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
      const weight = await weigh(project, entry)
      return output.result(weight, weightText(weight), weight.entries.length > 0)
    }
    const assets = await listAssets(project)
    const mounts = await listMounts(project)
    const isBuilt = assets.length === 0 || assets.some(({ target }) => target !== undefined)
    const text = [
      ...(assets.length === 0 ? [] : [assetsText(assets)]),
      ...(isBuilt ? [] : [`None of them is precompiled: ${REMEDY}`]),
      ...(mounts.length === 0 ? [] : mountsText(mounts))
    ]
    const all = [...assets, ...mounts.flatMap(asAssets)]
    return output.result(all, text.join('\n\n') || 'No assets found.')
  }
}

export const commands: readonly Command[] = [explainCommand, listCommand]

export async function listAssets(project: Project) {
  if (!project.servesPublic) return []
  const published = await readAssets(manifestFile(project))
  const holders = holdersOf(published)
  const own = await listOwn(project, await loadSources(project, warnOnce()), published)
  return own.map(({ path, source, entry }) => {
    const { target, size, sources } = entry ?? {}
    return { path, source, target, size, sources, partOf: holders.get(path) }
  })
}

const sizeText = (size: number | undefined, missing = '-') =>
  size === undefined ? missing : formatBytes(size)

function assetsText(assets: Awaited<ReturnType<typeof listAssets>>): string {
  const rows = assets.map(({ path, source, sources = [], partOf, size, target }) => {
    const others = sources.length > 1 ? ` and ${sources.length - 1} more` : ''
    const place = target ?? (partOf === undefined ? '-' : `in ${partOf}`)
    return [path, source + others, sizeText(size), place]
  })
  return table([['asset', 'source', 'size', 'target'], ...rows], [2])
}

function asAssets({ files, ...listed }: ListedMount): object[] {
  const { mount, directory } = listed
  const named = files.map(file => {
    const size = file.sizes['identity']
    const target = size === undefined ? undefined : file.path
    return { ...file, source: file.source ?? '', target, size, mount, isMissing: !target }
  })
  return [{ path: mount, source: directory, target: mount, ...listed }, ...named]
}

function mountsText(mounts: readonly ListedMount[]): string[] {
  const rows = mounts.map(({ mount, directory, manifest = '-', problem = '' }) => {
    return [mount, directory, manifest, problem]
  })
  const codings = CODINGS.map(({ name }) => name)
  const files = mounts.flatMap(each => each.files)
  const named = files.map(({ path, source = '-', sizes, entries }) => [
    path,
    source,
    sizeText(sizes['identity'], 'missing'),
    ...codings.map(name => sizeText(sizes[name])),
    entries.join(', ')
  ])
  const heading = ['file', 'source', 'size', ...codings, 'entries']
  const isRight = [2, ...codings.map((_, at) => at + 3)]
  return [
    table([['mount', 'directory', 'manifest'], ...rows]),
    ...(named.length > 0 ? [table([heading, ...named], isRight)] : [])
  ]
}

function weightText(weight: Weight): string {
  const { entries, builtAt, requests, bytes, files, groups } = weight
  if (entries.length === 0) return 'No script or stylesheet has such a name.'
  const groupRows = groups.map(({ path, size }) => [path, formatBytes(size)])
  const fileRows = files.map(({ path, size, isLater }) => {
    return [path, formatBytes(size), isLater ? 'by import()' : '']
  })
  return [
    `${entries.join(', ')}, precompiled at ${builtAt.toISOString()}`,
    `A first visit: ${count(requests, 'request')}, ${formatBytes(bytes)} without the page`,
    table([['package', 'br'], ...groupRows], [1]),
    table([['file', 'br', ''], ...fileRows], [1])
  ].join('\n\n')
}
