// Writes the response in development for a source that cannot be published: a page, or text, that shows the error.
import { basename, isAbsolute, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CompileError, type AssetError } from '../runtime/errors.ts'
import { realpathOf } from '../runtime/files/disk.ts'
import { escapeHtml } from '../runtime/views/html.ts'
import type { Settings } from '../runtime/settings/settings.ts'
import { assetSources } from '../runtime/settings/third-party.ts'
import { isInside, pathFrom, withSlashes } from '../runtime/files/paths.ts'

export async function errorPage(error: AssetError, settings: Settings, type: 'html' | 'text') {
  const report = await errorReport(error, settings)
  if (type === 'text') return `${Object.values(report).filter(Boolean).join('\n\n')}\n`
  const [title, location, reason, excerpt] = Object.values(report).map(escapeHtml)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 3rem auto; padding: 0 1rem; overflow-wrap: anywhere; color-scheme: light dark }
  h1 { font-size: 1.25rem; color: #c33 }
  p { white-space: pre-line }
  pre { padding: 1rem; overflow: auto; background: #8882; border-left: .25rem solid #c33 }
</style>
<main>
<h1>${title}</h1>
${location && `<p><strong><code>${location}</code></strong></p>`}
<p>${reason}</p>
${excerpt && `<pre tabindex="0" role="region" aria-label="The place of the error">${excerpt}</pre>`}
<p>Fix the error and reload. More about it: <code>${error.help}</code></p>
</main>
</html>
`
}

/** The parts are in reading order; one that does not apply is an empty string. */
export interface ErrorReport {
  readonly title: string
  /** The place of the error: `apps/web/assets/stylesheets/app.css.scss:3:7` */
  readonly location: string
  readonly reason: string
  /** The faulty line with its number, and a caret below it. */
  readonly excerpt: string
}

/** Reports an error without absolute paths: files of the project are named relative to its root. */
export async function errorReport(error: AssetError, settings: Settings): Promise<ErrorReport> {
  const show = await shortener(settings)
  if (!(error instanceof CompileError)) {
    const reason = show(error.message)
    return { title: 'This cannot be published', location: '', reason, excerpt: '' }
  }
  const { file, line, column, excerpt = '' } = error.location
  let place = withSlashes(show(file))
  // A package may be located above the project.
  if (isAbsolute(place)) place = pathFrom(await realOf(settings.root), await realOf(file))
  return {
    title: 'This source does not compile',
    location: [place, line, column].filter(part => part !== undefined).join(':'),
    reason: show(error.reason),
    excerpt: show(numbered(excerpt, line, column))
  }
}

function numbered(excerpt: string, line: number | undefined, column: number | undefined): string {
  const text = excerpt.replaceAll('\r\n', '\n').replace(/\n+$/, '')
  if (text === '' || text.includes('\n') || line === undefined) return text
  const gutter = `${line} | `
  const caret = column === undefined ? '' : `\n${' '.repeat(gutter.length + column - 1)}^`
  return `${gutter}${text}${caret}`
}

/** Matches the rest of a path, up to a space or the next drive, on Windows, where its separators become `/`. */
const REST = sep === '/' ? '' : String.raw`(?:(?![A-Za-z]:)[^\s:"'<>|*?])*`

// Shortens paths: those in the project start at its root, those in a source outside of it at that directory. Compilers
// report real paths if one of these is a symbolic link.
async function shortener({ root, apps }: Settings): Promise<(text: string) => string> {
  const names = new Map<string, string>()
  const sources = apps.flatMap(app => app.sources.map(({ dir }) => dir))
  for (const directory of [root, ...sources, ...assetSources.list()]) {
    const name = isInside(root, directory) ? pathFrom(root, directory) : basename(directory)
    for (const path of [directory, await realOf(directory)]) {
      names.set(path, name).set(pathToFileURL(path).pathname, name)
    }
  }
  names.delete(sep)
  const longestFirst = [...names.keys()].toSorted((a, b) => b.length - a.length)
  const paths = longestFirst.map(path => path.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')
  // Only whole paths match: `/app` does not match in `/assets/app.css` or `/apple`.
  const whole = new RegExp(`(?<![\\w.-])(${paths})(?:([/\\\\]${REST})|(?![\\w.-]))`, 'g')
  return text =>
    text.replace(whole, (_, path: string, below: string | undefined) => {
      const name = names.get(path)
      if (below === undefined) return name || '.'
      return withSlashes(name ? name + below : below.slice(1))
    })
}

const realOf = async (path: string): Promise<string> => (await realpathOf(path)) ?? path
