// The development response for a source that cannot be published: a page that shows what to fix.
import { basename, isAbsolute, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CompileError, type AssetError } from '../../errors.ts'
import { isInside, realpathOf } from '../../files/disk.ts'
import { escapeHtml } from '../views/html.ts'
import type { Settings } from '../settings/settings.ts'
import { assetSources } from '../sources/third-party.ts'

/** A part that does not apply is an empty string. */
export interface ErrorReport {
  readonly title: string
  /** `apps/web/assets/stylesheets/app.css.scss:3:7` */
  readonly location: string
  readonly reason: string
  /** The faulty line with its number, and a caret below it. */
  readonly excerpt: string
}

export async function errorPage(
  error: AssetError,
  settings: Settings,
  type: 'html' | 'text'
): Promise<string> {
  const report = await errorReport(error, settings)
  return type === 'html' ? asHtml(report) : asText(report)
}

/** Contains no absolute path: files of the project are named relative to its root. */
export async function errorReport(error: AssetError, settings: Settings): Promise<ErrorReport> {
  const names = await namedPaths(settings)
  const show = (text: string) =>
    names.reduce((text, [path, name]) => shorten(text, path, name), text)
  if (!(error instanceof CompileError)) {
    const reason = show(error.message)
    return { title: 'This asset cannot be published', location: '', reason, excerpt: '' }
  }
  const { file, line, column, excerpt = '' } = error.location
  const shown = show(file)
  const location = [isAbsolute(shown) ? await fromRoot(settings, file) : shown, line, column]
    .filter(part => part !== undefined)
    .join(':')
  return {
    title: 'This source does not compile',
    location,
    reason: show(error.reason),
    excerpt: show(numbered(excerpt, line, column))
  }
}

/** A single line gets its number, and a caret below it. */
function numbered(excerpt: string, line: number | undefined, column: number | undefined): string {
  const text = excerpt.replaceAll('\r\n', '\n').replace(/\n+$/, '')
  if (text === '' || text.includes('\n') || line === undefined) return text
  const gutter = `${line} | `
  const caret = column === undefined ? '' : `\n${' '.repeat(gutter.length + column - 1)}^`
  return `${gutter}${text}${caret}`
}

type Named = readonly [path: string, name: string]

/**
 * What each path is shortened to: paths in the project start at its root, a source outside of it at
 * its own directory. Real paths are included, because compilers report those when `root` or a source
 * is a symbolic link. The longest path comes first.
 */
async function namedPaths({ root, apps }: Settings): Promise<Named[]> {
  const sources = new Set([...apps.flatMap(app => app.sources), ...assetSources.list()])
  const named = Array.from(sources, source => {
    const name = isInside(root, source) ? relative(root, source) : basename(source)
    return spellings(source, name || '.')
  })
  const own = root === sep ? [] : await spellings(root, '.')
  const inRoot = own.map(([path]): Named => [path + sep, ''])
  const all = [...(await Promise.all(named)).flat(), ...inRoot, ...own]
  return all.toSorted(([a], [b]) => b.length - a.length)
}

async function spellings(path: string, name: string): Promise<Named[]> {
  const all = [path, await realOf(path)].flatMap(path => [path, pathToFileURL(path).pathname])
  return [...new Set(all)].map(path => [path, name])
}

async function realOf(path: string): Promise<string> {
  return (await realpathOf(path)) ?? path
}

/** A package may be located above the project. */
async function fromRoot({ root }: Settings, file: string): Promise<string> {
  const [realRoot, realFile] = await Promise.all([realOf(root), realOf(file)])
  return relative(realRoot, realFile)
}

/** Whole paths only: `/app` does not match in `/assets/app.css` or `/apple`. */
function shorten(text: string, path: string, name: string): string {
  return text.replaceAll(path, (_, at: number) => {
    const [before = '', after = ''] = [text[at - 1], text[at + path.length]]
    const isWhole = !/[\w.-]/.test(before) && (path.endsWith(sep) || !/[\w.-]/.test(after))
    return isWhole ? name : path
  })
}

function asText({ title, location, reason, excerpt }: ErrorReport): string {
  return [title, location, reason, excerpt].filter(part => part !== '').join('\n\n') + '\n'
}

function asHtml({ title, location, reason, excerpt }: ErrorReport): string {
  const [heading, where, why, code] = [title, location, reason, excerpt].map(escapeHtml)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${heading}</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
  h1 { font-size: 1.25rem; color: #c33 }
  pre { padding: 1rem; overflow: auto; background: #8882; border-left: .25rem solid #c33 }
</style>
<h1>${heading}</h1>
${where ? `<p><strong><code>${where}</code></strong></p>` : ''}
<p>${why}</p>
${code ? `<pre>${code}</pre>` : ''}
<p>Fix the error and reload.</p>
</html>
`
}
