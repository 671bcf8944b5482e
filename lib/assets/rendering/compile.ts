// Runs a source through its compiler and checks what comes back.
import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'
import { inspect } from 'node:util'
import { compiled } from '../../diagnostics.ts'
import { AssetError, CompileError, reasonOf } from '../../errors.ts'
import type { CompilerInput, CompilerOutput } from '../compilers/compiler.ts'
import type { Source } from '../sources/catalog.ts'

interface Compiled extends Required<CompilerOutput> {
  /** Of the compiler's work, in milliseconds; undefined without one. */
  readonly duration?: number
}

/**
 * The output of the source's compiler; a source without one is its own output.
 * @throws CompileError for whatever the compiler throws, and for output that is not valid
 */
export async function compile(
  source: Source,
  bytes: Buffer,
  input: Omit<CompilerInput, 'code' | 'path'>
): Promise<Compiled> {
  const { compiler, file } = source
  const code = new TextDecoder().decode(bytes)
  if (!compiler) return { code, dependencies: [] }
  if (!isUtf8(bytes)) throw new CompileError('the source must be UTF-8', { file })
  const startedAt = performance.now()
  const report = (more?: { error: unknown }) => {
    const duration = performance.now() - startedAt
    if (compiled.hasSubscribers) compiled.publish({ source: file, duration, ...more })
    return duration
  }
  try {
    const output = checked(await compiler.compile({ code, path: file, ...input }), file)
    return { ...output, duration: report() }
  } catch (error) {
    const failure = error instanceof AssetError ? error : toCompileError(error, file)
    report({ error: failure })
    throw failure
  }
}

function checked(output: unknown, file: string): Required<CompilerOutput> {
  const { code, dependencies = [] } = (output ?? {}) as Partial<CompilerOutput>
  const isList = Array.isArray(dependencies) && dependencies.every(path => typeof path === 'string')
  if (typeof code === 'string' && isList) return { code, dependencies }
  throw new CompileError(
    `the compiler for ${extname(file)} must return { code, dependencies }, got ${inspect(output, { depth: 0 })}`,
    { file }
  )
}

const BUGS = new Set(['TypeError', 'ReferenceError', 'RangeError'])

/** A compiler may throw anything, even a string or undefined. */
function toCompileError(error: unknown, file: string): CompileError {
  const failure = new CompileError(reasonOf(error), { file }, { cause: error })
  const { name, stack } = (error ?? {}) as Partial<Error>
  // A bug in a custom compiler is found by where it was thrown.
  if (stack !== undefined && BUGS.has(name ?? '')) failure.stack += `\n[cause]: ${stack}`
  return failure
}
