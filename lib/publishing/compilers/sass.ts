// Compiles both syntaxes of Sass with sass-embedded or sass.
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type * as Sass from 'sass'
import { CompileError } from '../../runtime/errors.ts'
import { decodeIfValid } from '../../runtime/urls/spelling.ts'
import type { CompilerInput } from '../../runtime/settings/compiler.ts'
import {
  firstFile,
  inlineMap,
  nodeModulesFrom,
  searchedPaths,
  withRelativeSources,
  type Search
} from './compiler.ts'
import { sheetFor, withAdvice } from './leads.ts'

export async function compileSass(sass: typeof Sass, input: CompilerInput, syntax: Sass.Syntax) {
  const { code, path, loadPaths, sourceMap = false } = input
  const searches: Search[] = []
  try {
    const result = await sass.compileStringAsync(code, {
      url: pathToFileURL(path),
      syntax,
      loadPaths: [...loadPaths],
      importers: [
        recorder(input, searches),
        packages(input, searches),
        new sass.NodePackageImporter(dirname(path))
      ],
      quietDeps: true,
      sourceMap,
      sourceMapIncludeSources: sourceMap
    })
    const read = result.loadedUrls.flatMap(filePath)
    const imported = read.filter(file => file !== path)
    const searched = await searchedPaths(searches)
    const map = sourceMap && withRelativeSources(JSON.stringify(result.sourceMap), path)
    return {
      code: map ? result.css + inlineMap(map, 'css') : result.css,
      dependencies: [...read, ...searched, ...imported.flatMap(rivalsOf)]
    }
  } catch (error) {
    if (error instanceof sass.Exception) throw await sassError(error, input)
    throw error
  }
}

function filePath(url: URL | null | undefined): string[] {
  return url?.protocol === 'file:' ? [fileURLToPath(url)] : []
}

// Finds nothing and records searches. Sass calls it for imports that are not next to the importing file, before the
// package importer and the load paths.
function recorder({ path, loadPaths }: CompilerInput, searches: Search[]): Sass.Importer<'async'> {
  return {
    // Without it Sass does not pass `containingUrl` for packages.
    nonCanonicalScheme: 'pkg',
    canonicalize(url, { containingUrl, fromImport }) {
      const from = dirname(filePath(containingUrl)[0] ?? path)
      const [, name] = PACKAGE.exec(decodeIfValid(url) ?? url) ?? []
      if (name !== undefined) {
        // A package.json decides which file of its package is loaded.
        searches.push(nodeModulesFrom(from).map(folder => join(folder, name, 'package.json')))
      } else if (!HAS_SCHEME.test(url)) {
        searches.push([from, ...loadPaths].flatMap(base => pathsFor(base, url, fromImport)))
      }
      return null
    },
    load: () => null
  }
}

/** Finds packages where Node does, before the load paths of the project are searched for them. */
function packages(input: CompilerInput, searches: Search[]): Sass.FileImporter<'async'> {
  const { path, loadPaths } = input
  const own = loadPaths.filter(each => basename(each) !== 'node_modules')
  return {
    async findFileUrl(url, { containingUrl, fromImport }) {
      if (HAS_SCHEME.test(url)) return null
      if (await firstFile(own.flatMap(base => pathsFor(base, url, fromImport)))) return null
      const from = dirname(filePath(containingUrl)[0] ?? path)
      const found = await sheetFor(decodeIfValid(url) ?? url, 'sass', from, input, searches)
      // Sass itself finds partials.
      return found ? pathToFileURL(found.file ?? join(found.directory, found.rest ?? '')) : null
    }
  }
}

const PACKAGE = /^pkg:((?:@[^/]*\/)?[^/]+)/
const HAS_SCHEME = /^(?:[a-z][a-z\d+.-]*:|\/\/)/i

/** Returns the paths that Sass tries for a URL in a directory: https://sass-lang.com/documentation/at-rules/use/ */
function pathsFor(base: string, url: string, fromImport: boolean): string[] {
  const path = join(base, decodeIfValid(url) ?? url)
  if (SYNTAX.test(path)) return variants(path.replace(SYNTAX, ''), [extname(path)], fromImport)
  return [path, join(path, 'index')].flatMap(stem => variants(stem, EXTENSIONS, fromImport))
}

const SYNTAX = /\.(?:sass|scss|css)$/
const EXTENSIONS = ['.sass', '.scss', '.css']

/** Lists a stylesheet and a partial for each extension; `@import` tries import-only files first. */
function variants(path: string, extensions: readonly string[], fromImport: boolean): string[] {
  const stems = [path, join(dirname(path), `_${basename(path)}`)]
  const named = (suffix: string) =>
    extensions.flatMap(ext => stems.map(stem => stem + suffix + ext))
  return fromImport ? [...named('.import'), ...named('')] : named('')
}

/** Returns paths that would precede a file or be ambiguous with it: Sass does not say whether `@import` found it. */
function rivalsOf(file: string): string[] {
  const extension = extname(file)
  const extensions = extension === '.css' ? EXTENSIONS : ['.sass', '.scss']
  const stem = basename(file, extension).replace(/^_|\.import$/g, '')
  const folder = dirname(file)
  // `theme/_index.scss` may have been found as `theme`.
  const stems = stem === 'index' ? [join(folder, stem), folder] : [join(folder, stem)]
  return stems.flatMap(path => variants(path, extensions, true)).filter(rival => rival !== file)
}

async function sassError(error: Sass.Exception, input: CompilerInput): Promise<CompileError> {
  const { path } = input
  const { url, start, context, text } = error.span
  const [line, column] = [start.line + 1, start.column + 1]
  const location = { file: filePath(url)[0] ?? path, line, column, excerpt: context ?? text }
  const [, written] = /["']([^"']+)["']/.exec(text) ?? []
  const isLost = error.sassMessage.startsWith("Can't find stylesheet")
  const message = await withAdvice(error.sassMessage, isLost ? written : undefined, input)
  return new CompileError(message, location, { cause: error })
}
