// Gives a CommonJS module names that other files can import.
import type { PluginContext } from 'rolldown'
import { readSnapshot } from '../../runtime/files/open-file.ts'

const NOT_NAMED = new Set(['default', '__esModule', 'module.exports'])

/** @param given the names that are imported, as a lexer does not find all */
export async function facadeOf(context: PluginContext, file: string, given: Iterable<string>) {
  const names = [...new Set([...(await commonJsNames(context, file)), ...given])]
  // A name need not be an identifier.
  const list = ['default', ...names].map(each => JSON.stringify(each))
  const code = `export { ${list.join(', ')} } from ${JSON.stringify(file)}`
  return { code, names }
}

/** Finds names like Node, and follows re-exports of other modules. */
async function commonJsNames(context: PluginContext, file: string): Promise<string[]> {
  const { init, parse } = await import('cjs-module-lexer')
  await init()
  const names = new Set<string>()
  const files = new Set([file])
  for (const each of files) {
    const { exports, reexports } = found(parse, String((await readSnapshot(each))?.bytes ?? ''))
    for (const name of exports) if (!NOT_NAMED.has(name)) names.add(name)
    for (const specifier of reexports) {
      const to = await context.resolve(specifier, each, { kind: 'require-call' })
      if (to && !to.external) files.add(to.id)
    }
  }
  return [...names]
}

/** A text that the lexer cannot read has only a default export. */
function found(parse: (typeof import('cjs-module-lexer'))['parse'], code: string) {
  try {
    return parse(code)
  } catch (error) {
    if (typeof (error as { idx?: unknown }).idx !== 'number') throw error
    return { exports: [], reexports: [] }
  }
}
