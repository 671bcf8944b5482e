// The `precompile` command: the front end of building/precompile.ts.
import { EXTENSIONS } from '../../runtime/files/codings.ts'
import {
  PRECOMPILE_EXTRAS,
  type PrecompileExtras,
  type PrecompileReport
} from '../../runtime/settings/extra-options.ts'
import type { Values, Command, Project, Rows } from '../../runtime/app/extra.ts'
import { errorReport } from '../error-page.ts'
import { precompile as build } from '../building/precompile.ts'
import { ifAssetError, PrecompileError, printable, type AssetError } from '../../runtime/errors.ts'
import { FAILED, longRun, count, formatBytes, formatSeconds, indent, table } from './command.ts'
import { isInside, pathFrom } from '../../runtime/files/paths.ts'

export const precompile: Command = {
  name: 'precompile',
  summary: 'build every asset for production, fingerprinted and compressed',
  about: `Compiles or copies every asset of every app and third-party package into public,
under its plain name and under one that contains the digest of its content, adds
compressed copies (${EXTENSIONS}) where they are smaller, and writes the manifest
public/assets.json last. Run it in every deployment, before the application starts.

Unchanged files are not written again. Files of earlier deployments stay, so pages
that are open now keep working; 'clean' removes them. Plain names and the manifest
are replaced together at the end: if a source is broken, or Ctrl-C is pressed before
that, all of them stay as they were.

The environment is production, unless NODE_ENV or --env names another.`,
  options: { verbose: { description: 'print a line for each asset' } },
  examples: [
    ['koa-fresh-assets precompile', 'Build the project in this directory:'],
    ['koa-fresh-assets precompile --json', 'Print a report for a script:']
  ],
  run: longRun('nothing was published', async ({ output, loadProject, values }, run) => {
    const project = await loadProject('deployment')
    try {
      const report = await build(project, { ...run, ...optionsIn(values), warn: output.warn })
      await warnOfMore(project, output.warn)
      const lines = await Promise.all(project.extras.map(async extra => extra.commandLine?.()))
      const rows = lines.flatMap(each => each?.rows?.(report) ?? [])
      return output.result(report, report.assets > 0 ? summary(report, rows) : NOTHING)
    } catch (error) {
      if (!(error instanceof PrecompileError)) throw error
      output.error(await format(error, project))
      return FAILED
    }
  })
}

/** Extras add options to the command under the names that `precompile()` gives them. */
function optionsIn(values: Values): PrecompileExtras {
  const names = Object.keys(PRECOMPILE_EXTRAS) as (keyof PrecompileExtras & keyof Values)[]
  return Object.fromEntries(names.map(name => [name, values[name]]))
}

const NOTHING = 'Nothing to compile: this project has no assets of its own.'

/** Warns of problems in views; the assets are already published. */
async function warnOfMore(project: Project, warn: (message: string) => void) {
  for (const extra of project.extras) {
    const failed = ({ message }: AssetError) => warn(`${extra.name} are not checked: ${message}`)
    const found = await extra.views?.check(project).catch(ifAssetError(failed))
    if (!found) continue
    const problems = found.problems.map(({ path, message }) => `${printable(path)} ${message}`)
    for (const message of [...found.doubts, ...problems]) warn(message)
  }
}

async function format({ problems }: PrecompileError, project: Project): Promise<string> {
  const reports = await Promise.all(problems.map(problem => errorReport(problem, project)))
  const lines = reports.map(({ location, reason, excerpt }) => {
    const heading = [printable(location), reason].filter(Boolean).join(': ')
    return excerpt ? `${heading}\n\n${indent(excerpt, '    ')}\n` : heading
  })
  const verdict = `Precompile failed with ${count(problems.length, 'error')}; nothing was published.`
  const help = new Set(problems.map(problem => `See ${problem.help}`))
  return [...lines, verdict, ...help].join('\n')
}

/** Writes the report so that it fits on one screen. */
function summary(report: PrecompileReport, texts: Rows): string {
  const { assets, bytes, compressedBytes, seconds, largest, kept, manifest } = report
  const isHere = isInside(process.cwd(), manifest)
  const totals = [
    ['Assets', assets.toLocaleString('en')],
    ['Bytes', formatBytes(bytes)],
    ['Compressed', formatBytes(compressedBytes)],
    ...texts,
    ...(kept > 0 ? [['Kept', `${count(kept, 'file')} of the last build`]] : []),
    ['Time', formatSeconds(seconds)],
    ['Manifest', isHere ? pathFrom(process.cwd(), manifest) : manifest]
  ]
  const sizes = largest.map(({ path, size }) => [formatBytes(size), path])
  return [table(totals), `Largest\n${indent(table(sizes, [0]))}`, changesText(report)].join('\n\n')
}

// The first build of a thousand assets does not list each of them.
const SHOWN = 10

function changesText({ changes: { added, changed, removed } }: PrecompileReport): string {
  const signed = Object.entries({ '+': added, '~': changed, '-': removed })
  const all = signed.flatMap(([sign, paths]) => paths.map(path => `${sign} ${path}`))
  if (all.length === 0) return 'Nothing changed since the last build.'
  const counts = Object.entries({ added, changed, removed }).flatMap(([verb, { length }]) =>
    length > 0 ? `${length} ${verb}` : []
  )
  const rest = all.length > SHOWN ? [`and ${all.length - SHOWN} more`] : []
  const lines = [...all.slice(0, SHOWN), ...rest].join('\n')
  return `Since the last build: ${counts.join(', ')}\n${indent(lines)}`
}
