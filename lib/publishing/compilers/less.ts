// Compiles Less with less.
import { basename, dirname, resolve } from 'node:path'
import type less from 'less'
import { CompileError } from '../../runtime/errors.ts'
import type { CompilerInput } from '../../runtime/settings/compiler.ts'
import { firstFile, searchedPaths, type Search } from './compiler.ts'
import { sheetFor, withAdvice } from './leads.ts'

const MAP = { sourceMapFileInline: true, outputSourceFiles: true }

export async function compileLess(peer: LessModule, input: CompilerInput) {
  const { code, path, loadPaths, sourceMap } = input
  const searches: Search[] = []
  try {
    const result = await peer.render(code, {
      filename: path,
      paths: [...loadPaths],
      plugins: [recorder(peer, input, searches)],
      ...(sourceMap && { sourceMap: { ...MAP, sourceMapBasepath: dirname(path) } })
    })
    const read = result.imports.filter(file => !IS_URL.test(file)).map(file => resolve(file))
    return { code: result.css, dependencies: [...read, ...(await searchedPaths(searches))] }
  } catch (error) {
    throw await lessError(error, input)
  }
}

// The members of less that are missing from its types.
export type LessModule = typeof less & { readonly FileManager: typeof Less.FileManager }
type Manager = Less.FileManager & { tryAppendExtension(path: string, extension: string): string }

// The test that less itself uses: a URL is left to its own file manager.
const IS_URL = /^(?:https?:)?\/\//i

// Records every search: less reports neither the files that `data-uri()` read nor those that it did not find. Packages
// are found where Node finds them, before the load paths are searched for them.
function recorder({ FileManager }: LessModule, input: CompilerInput, searches: Search[]) {
  const own = input.loadPaths.filter(each => basename(each) !== 'node_modules')
  class Recorder extends FileManager {
    override supports(file: string, directory: string) {
      return !IS_URL.test(file) && !IS_URL.test(directory)
    }

    override loadFile(...args: Parameters<Less.FileManager['loadFile']>) {
      const [file, directory, options] = args
      const searchIn = (paths = options.paths) =>
        searchFor(this as unknown as Manager, file, directory, { ...options, paths })
      searches.push(searchIn())
      const isSheet = options.ext !== '.js' && !('syncImport' in options && options.syncImport)
      return isSheet ? this.#loadLater(searchIn(own), args) : super.loadFile(...args)
    }

    async #loadLater(search: Search, args: Parameters<Less.FileManager['loadFile']>) {
      const [file, directory, ...others] = args
      const isOwn = (await firstFile(search)) !== undefined
      const found = isOwn ? undefined : await sheetFor(file, 'less', directory, input, searches)
      return super.loadFile(found?.file ?? file, directory, ...others)
    }
  }
  const install: Less.Plugin['install'] = (_, manager) => manager.addFileManager(new Recorder())
  return { install }
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

async function lessError(error: unknown, input: CompilerInput): Promise<unknown> {
  const { message, filename, line, column, extract } = error as Partial<Less.RenderError>
  if (message === undefined || line === undefined) return error
  const excerpt = extract?.filter(text => text != null).join('\n')
  const location = { file: filename ?? input.path, line, column: (column ?? 0) + 1, excerpt }
  const [, written] = /^'([^']+)' wasn't found/.exec(message) ?? []
  return new CompileError(await withAdvice(message, written, input), location, { cause: error })
}
