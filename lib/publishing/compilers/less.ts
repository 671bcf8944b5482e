// Compiles Less with less.
import { dirname, resolve } from 'node:path'
import type less from 'less'
import { CompileError } from '../../runtime/errors.ts'
import type { CompilerInput } from '../../runtime/settings/options.ts'
import { searchedPaths, type Search } from './compiler.ts'

const MAP = { sourceMapFileInline: true, outputSourceFiles: true }

export async function compileLess(peer: LessModule, input: CompilerInput) {
  const { code, path, loadPaths, sourceMap } = input
  const searches: Search[] = []
  try {
    const result = await peer.render(code, {
      filename: path,
      paths: [...loadPaths],
      plugins: [recorder(peer, searches)],
      ...(sourceMap && { sourceMap: { ...MAP, sourceMapBasepath: dirname(path) } })
    })
    const read = result.imports.filter(file => !IS_URL.test(file)).map(file => resolve(file))
    return { code: result.css, dependencies: [...read, ...(await searchedPaths(searches))] }
  } catch (error) {
    throw lessError(error, path)
  }
}

// Members of less that are missing from its types.
export type LessModule = typeof less & { readonly FileManager: typeof Less.FileManager }
type Manager = Less.FileManager & { tryAppendExtension(path: string, extension: string): string }

// This is the test that less uses: a URL is left to its own file manager.
const IS_URL = /^(?:https?:)?\/\//i

/** Records every search: less reports neither what `data-uri()` read nor what it did not find. */
function recorder({ FileManager }: LessModule, searches: Search[]): Less.Plugin {
  class Recorder extends FileManager {
    override supports(file: string, directory: string) {
      return !IS_URL.test(file) && !IS_URL.test(directory)
    }

    override loadFile(...args: Parameters<Less.FileManager['loadFile']>) {
      const [file, directory, options] = args
      searches.push(searchFor(this as unknown as Manager, file, directory, options))
      return super.loadFile(...args)
    }
  }
  return { install: (_, manager) => manager.addFileManager(new Recorder()) }
}

/** Less searches the directory of the importing file, then the load paths, then the working directory. */
function searchFor(
  manager: Manager,
  file: string,
  directory: string,
  { paths = [], prefixes = [''], ext }: Less.LoadFileOptions
): Search {
  const folder = file.slice(0, file.lastIndexOf('/') + 1)
  const named = prefixes.map(prefix => folder + prefix + file.slice(folder.length))
  return [directory, ...paths, '.'].flatMap(base =>
    named.map(path => resolve(base, ext ? manager.tryAppendExtension(path, ext) : path))
  )
}

function lessError(error: unknown, path: string): unknown {
  const { message, filename, line, column, extract } = error as Partial<Less.RenderError>
  if (message === undefined || line === undefined) return error
  const excerpt = extract?.filter(text => text != null).join('\n')
  const location = { file: filename ?? path, line, column: (column ?? 0) + 1, excerpt }
  return new CompileError(message, location, { cause: error })
}
