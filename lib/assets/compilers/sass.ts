// Sass in both syntaxes, by sass-embedded or sass.
import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as Sass from 'sass'
import { CompileError } from '../../errors.ts'
import { projectOf, wantsMap, type CompilerInput, type CompilerOutput } from './compiler.ts'
import { SASS, type Load } from './peers.ts'
import { searched, type Search } from './searched.ts'

export async function compileSass(
  load: Load,
  input: CompilerInput,
  syntax: 'scss' | 'indented'
): Promise<CompilerOutput> {
  const { code, path, loadPaths } = input
  const sass = (await load(SASS, path, projectOf(input))) as typeof Sass
  const inline = wantsMap(input)
  const searches: Search[] = []
  try {
    const result = await sass.compileStringAsync(code, {
      url: pathToFileURL(path),
      syntax,
      loadPaths: [...loadPaths],
      importers: [recorder(input, searches), new sass.NodePackageImporter(dirname(path))],
      quietDeps: true,
      sourceMap: inline,
      sourceMapIncludeSources: inline
    })
    const read = result.loadedUrls.flatMap(filePath)
    const others = read.filter(file => file !== path)
    const passedBy = await searched([...searches, ...others.flatMap(besides)])
    return {
      code: result.css + inlineMap(result.sourceMap, path),
      dependencies: [...read, ...passedBy]
    }
  } catch (error) {
    if (error instanceof sass.Exception) throw sassError(error, path)
    throw error
  }
}

function filePath(url: URL | null | undefined): string[] {
  return url?.protocol === 'file:' ? [fileURLToPath(url)] : []
}

/**
 * Finds nothing itself. Sass asks it for what it did not find beside the file that loads it, before it
 * asks the package importer and the load paths.
 */
function recorder({ path, loadPaths }: CompilerInput, searches: Search[]): Sass.Importer<'async'> {
  return {
    // Only then Sass tells which file loads a package.
    nonCanonicalScheme: 'pkg',
    canonicalize(url, { containingUrl, fromImport }) {
      const from = dirname(filePath(containingUrl)[0] ?? path)
      if (url.startsWith('pkg:')) searches.push(packagePlaces(url, from))
      else if (!HAS_SCHEME.test(url)) {
        searches.push([from, ...loadPaths].flatMap(base => places(base, url, fromImport)))
      }
      return null
    },
    load: () => null
  }
}

const HAS_SCHEME = /^(?:[a-z][a-z\d+.-]*:|\/\/)/i

/** Where Sass looks for a URL below a directory: https://sass-lang.com/documentation/at-rules/use/ */
function places(base: string, url: string, fromImport: boolean): string[] {
  const path = join(base, decoded(url))
  if (SYNTAX.test(path)) return variants(path.replace(SYNTAX, ''), [extname(path)], fromImport)
  return [
    ...variants(path, ['.sass', '.scss', '.css'], fromImport),
    ...variants(join(path, 'index'), ['.sass', '.scss', '.css'], fromImport)
  ]
}

const SYNTAX = /\.(?:sass|scss|css)$/

function decoded(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch (error) {
    if (error instanceof URIError) return url
    throw error
  }
}

/** A partial and a whole stylesheet of each syntax; before them, for `@import` alone, import-only files. */
function variants(path: string, extensions: readonly string[], fromImport: boolean): string[] {
  const stems = [path, join(dirname(path), `_${basename(path)}`)]
  const named = (suffix: string) =>
    extensions.flatMap(ext => stems.map(stem => stem + suffix + ext))
  return fromImport ? [...named('.import'), ...named('')] : named('')
}

/**
 * What hides a file that was found, or is ambiguous beside it, each in a search of its own. Whether it
 * was found by `@import` is not known.
 */
function besides(file: string): Search[] {
  const extension = extname(file)
  const extensions = extension === '.css' ? ['.sass', '.scss', '.css'] : ['.sass', '.scss']
  const stem = basename(file, extension)
    .replace(/^_/, '')
    .replace(/\.import$/, '')
  const folder = dirname(file)
  // `theme/_index.scss` may have been found as `theme`.
  const stems = stem === 'index' ? [join(folder, stem), folder] : [join(folder, stem)]
  return stems
    .flatMap(path => variants(path, extensions, true))
    .filter(place => place !== file)
    .map(place => [place])
}

/** The manifest of a package says which of its files is loaded; one that is nearer comes first. */
function packagePlaces(url: string, from: string): string[] {
  const [first = '', second = ''] = decoded(url.slice('pkg:'.length)).split('/')
  const name = first.startsWith('@') ? `${first}/${second}` : first
  const above = dirname(from) === from ? [] : packagePlaces(url, dirname(from))
  return [join(from, 'node_modules', name, 'package.json'), ...above]
}

function sassError(error: Sass.Exception, path: string): CompileError {
  const { url, start, context, text } = error.span
  const location = {
    file: filePath(url)[0] ?? path,
    line: start.line + 1,
    column: start.column + 1,
    excerpt: context ?? text
  }
  return new CompileError(error.sassMessage, location, { cause: error })
}

/** Names the sources from the stylesheet's own directory: a page tells nothing of the machine. */
function inlineMap(map: { sources: string[] } | undefined, path: string): string {
  if (!map) return ''
  const sources = map.sources.map(url =>
    url.startsWith('file:') ? relative(dirname(path), fileURLToPath(url)).split(sep).join('/') : url
  )
  const json = Buffer.from(JSON.stringify({ ...map, sources }))
  return `\n/*# sourceMappingURL=data:application/json;base64,${json.toString('base64')} */\n`
}
