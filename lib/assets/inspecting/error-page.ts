// What development answers for a source that cannot be published: a page that a person can act on.
import { basename, isAbsolute, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CompileError, type AssetError } from '../../errors.ts'
import { isInside, realpathOf } from '../../files/disk.ts'
import { escapeHtml } from '../views/html.ts'
import type { Settings } from '../settings/settings.ts'
import { assetSources } from '../sources/third-party.ts'

/** What a person needs to know of an error; empty strings for what does not apply. */
export interface ErrorReport {
  readonly title: string
  /** `apps/web/assets/stylesheets/app.css.scss:3:7` */
  readonly place: string
  readonly reason: string
  /** The line at fault with its number, and a caret below it. */
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

/** No absolute path of the machine is in it: what lies in the project is named from its root. */
export async function errorReport(error: AssetError, settings: Settings): Promise<ErrorReport> {
  const names = await namesOfPlaces(settings)
  const show = (text: string) =>
    names.reduce((text, [path, name]) => shorten(text, path, name), text)
  if (!(error instanceof CompileError)) {
    return {
      title: 'This asset cannot be published',
      place: '',
      reason: show(error.message),
      excerpt: ''
    }
  }
  const { file, line, column, excerpt = '' } = error.location
  const shown = show(file)
  const place = [isAbsolute(shown) ? await fromRoot(settings, file) : shown, line, column]
    .filter(part => part !== undefined)
    .join(':')
  return {
    title: 'This source does not compile',
    place,
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
 * Paths in the project start at its root; a source outside of it starts at its own directory. Each
 * also by its real path, which is what compilers tell where `root` or a source is a link. Those that
 * lie in others come first.
 */
async function namesOfPlaces({ root, apps }: Settings): Promise<Named[]> {
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

/** A package may lie above the project. */
async function fromRoot({ root }: Settings, file: string): Promise<string> {
  const [realRoot, realFile] = await Promise.all([realOf(root), realOf(file)])
  return relative(realRoot, realFile)
}

/** Whole paths only: `/app` is not in `/assets/app.css`, nor in `/apple`. */
function shorten(text: string, path: string, name: string): string {
  return text.replaceAll(path, (_, at: number) => {
    const [before = '', after = ''] = [text[at - 1], text[at + path.length]]
    const isWhole = !/[\w.-]/.test(before) && (path.endsWith(sep) || !/[\w.-]/.test(after))
    return isWhole ? name : path
  })
}

function asText({ title, place, reason, excerpt }: ErrorReport): string {
  return [title, place, reason, excerpt].filter(part => part !== '').join('\n\n') + '\n'
}

function asHtml({ title, place, reason, excerpt }: ErrorReport): string {
  const [heading, where, why, code] = [title, place, reason, excerpt].map(escapeHtml)
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
<p>Fix it, then reload.</p>
</html>
`
}
