// An import leads to the file to which TypeScript and Vite take it, in random trees with several candidates.
import { join, posix, resolve } from 'node:path'
import fc from 'fast-check'
import { pathFrom } from '../../lib/runtime/files/paths.ts'
import { loadModuleLexer } from '../../lib/publishing/references/modules.ts'
import { command } from '../support/command.ts'
import { cases, makeProject, makeSite, test, words, writeFiles } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'
import { startVite } from '../support/vite-server.ts'

const [BATCHES, TREES] = [cases(1, 50), 40]
const FOLDER = 'apps/web/assets/javascripts'
const ENDINGS = ['.ts', '.tsx', '.js', '.jsx', '.mjs']
const PLACES = ['a', 'lib', 'a/index', 'lib/index', 'x/a', 'x/a/index', 'y/a', 'y/lib/index']

/** One file of each name: two that are published as one are an error of their own. */
const aTree = fc.record({
  own: fc.constantFrom('.ts', '.js'),
  endings: fc.tuple(...PLACES.map(() => fc.option(fc.constantFrom(...ENDINGS), { nil: undefined })))
})

type Tree = typeof aTree extends fc.Arbitrary<infer T> ? T : never

const pathsOf = (at: number) => ({
  [`@${at}/*`]: [`./${FOLDER}/t${at}/x/*`, `./${FOLDER}/t${at}/y/*`],
  [`one${at}`]: [`./${FOLDER}/t${at}/lib`]
})
const IMPORTS = {
  '#y/*': './y/*.js',
  '#y/special/*': './x/*.js',
  '#typed/*': { node: './x/*.tsx', module: './y/*.js' },
  '#one': [{ node: './a.ts', browser: './x/a.js' }, './a.ts']
}
const specifiersAt = (at: number) => [
  ...words('./a ./lib ./lib/ ./a.js ./lib.js ./a/index ./a/ ./x/a ./x/a.jsx ./y/lib'),
  ...words(`@${at}/a @${at}/lib @${at}/lib/index @${at}/a.js one${at}`),
  ...words('#y/a #y/special/a #typed/a #one')
]

test(`in ${BATCHES * TREES} random trees an import leads to the file that TypeScript, or else Vite, finds`, async t => {
  const trees = fc.array(aTree, { minLength: TREES, maxLength: TREES })
  for (const batch of fc.sample(trees, BATCHES)) {
    const { wrong, count } = await comparedIn(t, batch)
    t.deepEqual(wrong, [])
    t.true(count > 5 * TREES)
  }
})

async function comparedIn(t: ExecutionContext, trees: readonly Tree[]) {
  const root = makeProject(t)
  const { files, entries } = filesOf(trees)
  writeFiles(root, files)
  const byTypeScript = await tracedIn(root)
  const { server } = await startVite(t, root, { resolve: { tsconfigPaths: true } })
  const site = await makeSite(t, {}, { root, missing: 'ignore' })
  const { find } = await loadModuleLexer()
  const urlOf = (file: string) => file.replace(FOLDER, '/assets').replace(/\.[jt]sx?$/, '.js')
  const published = new Map(Object.keys(files).map(file => [urlOf(file), file]))
  const wrong: string[] = []
  for (const [at, entry] of entries.entries()) {
    const { text } = await site.ask(`/assets/t${at}/main.js`)
    for (const [number, { path }] of find(text).references.entries()) {
      const specifier = specifiersAt(at)[number] ?? ''
      const found = published.get(posix.resolve(`/assets/t${at}`, path))
      const typed = byTypeScript.get(`${entry} ${specifier}`)
      const resolved = await server.pluginContainer.resolveId(specifier, join(root, entry))
      const byVite = resolved ? pathFrom(root, resolved.id) : undefined
      if (found === (typed ?? byVite)) continue
      const tree = Object.keys(files).filter(file => file.startsWith(`${FOLDER}/t${at}/`))
      wrong.push(`${specifier}: ${found}, TypeScript ${typed}, Vite ${byVite} in ${tree.join(' ')}`)
    }
  }
  await server.close()
  return { wrong, count: byTypeScript.size }
}

function filesOf(trees: readonly Tree[]) {
  const files: Record<string, string> = {}
  const entries = trees.map(({ own, endings }, at) => {
    const folder = `${FOLDER}/t${at}`
    for (const [place, ending] of endings.entries())
      if (ending !== undefined) files[`${folder}/${PLACES[place]}${ending}`] = 'export {}'
    files[`${folder}/package.json`] = JSON.stringify({ imports: IMPORTS })
    const lines = specifiersAt(at).map(specifier => `import '${specifier}'`)
    files[`${folder}/main${own}`] = lines.join('\n')
    return `${folder}/main${own}`
  })
  const paths = Object.assign({}, ...trees.map((_, at) => pathsOf(at))) as object
  const compilerOptions = {
    ...{ module: 'esnext', moduleResolution: 'bundler', allowJs: true, noEmit: true, types: [] },
    ...{ jsx: 'preserve', customConditions: ['browser', 'module', 'development'], paths }
  }
  files['tsconfig.json'] = JSON.stringify({ compilerOptions, files: entries })
  return { files, entries }
}

/** @returns the paths of files, by that of the importer and the specifier */
async function tracedIn(root: string): Promise<ReadonlyMap<string, string>> {
  const tsc = resolve('node_modules/typescript/bin/tsc')
  const args = [tsc, '-p', root, '--traceResolution']
  const options = { maxBuffer: 2 ** 30 }
  const failed = (error: unknown) => error as { stdout: string }
  const { stdout } = await command(process.execPath, args, options).catch(failed)
  const found = new Map<string, string>()
  let importer = ''
  for (const line of stdout.split('\n')) {
    const asked = /^=+ Resolving module '(?<specifier>.+)' from '(?<from>.+)'/.exec(line)?.groups
    if (asked) importer = `${pathFrom(root, asked['from'] ?? '')} ${asked['specifier']}`
    const file = /successfully resolved to '(?<file>[^']+)'/.exec(line)?.groups?.['file']
    if (file !== undefined) found.set(importer, pathFrom(root, file))
  }
  return found
}
