// Less, by less.
import { dirname, resolve } from 'node:path'
import type less from 'less'
import { CompileError } from '../../errors.ts'
import { projectOf, wantsMap, type CompilerInput, type CompilerOutput } from './compiler.ts'
import { LESS, type Load } from './peers.ts'
import { searched, type Search } from './searched.ts'

export async function compileLess(load: Load, input: CompilerInput): Promise<CompilerOutput> {
  const { code, path, loadPaths } = input
  const peer = (await load(LESS, path, projectOf(input))) as LessModule
  const searches: Search[] = []
  try {
    const result = await peer.render(code, {
      filename: path,
      paths: [...loadPaths],
      plugins: [recorder(peer, searches)],
      ...(wantsMap(input) && {
        sourceMap: {
          sourceMapFileInline: true,
          outputSourceFiles: true,
          sourceMapBasepath: dirname(path)
        }
      })
    })
    const read = result.imports.filter(file => !IS_URL.test(file)).map(file => resolve(file))
    return { code: result.css, dependencies: [...read, ...(await searched(searches))] }
  } catch (error) {
    throw lessError(error, path)
  }
}

// What less has and its types do not tell of.
type LessModule = typeof less & { readonly FileManager: typeof Less.FileManager }
type Manager = Less.FileManager & { tryAppendExtension(path: string, extension: string): string }

// As less tells them: what is fetched over HTTP is left to its own manager of URLs.
const IS_URL = /^(?:https?:)?\/\//i

/** Less names the imports that it read; not what `data-uri()` read, nor what it looked for in vain. */
function recorder({ FileManager }: LessModule, searches: Search[]): Less.Plugin {
  class Recorder extends FileManager {
    override supports(file: string, directory: string) {
      return !IS_URL.test(file) && !IS_URL.test(directory)
    }

    override loadFile(...asked: Parameters<Less.FileManager['loadFile']>) {
      const [file, directory, options] = asked
      searches.push(places(this as unknown as Manager, file, directory, options))
      return super.loadFile(...asked)
    }
  }
  const install: Less.Plugin['install'] = (_, manager) => manager.addFileManager(new Recorder())
  return { install }
}

/** Where less looks for a file: beside the one that loads it, in the load paths, in the working directory. */
function places(
  manager: Manager,
  file: string,
  directory: string,
  { paths = [], prefixes = [''], ext }: Less.LoadFileOptions
): string[] {
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
