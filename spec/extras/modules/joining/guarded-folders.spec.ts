// A guard of a folder guards in production what it does in development: joining moves no module out of it.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import fc from 'fast-check'
import { cases, filesBelow, makeProject, placed, run, test } from '../../../support/index.ts'

const FOLDERS = ['', 'admin/', 'admin/users/', 'shop/']
const aGraph = fc.array(
  fc.record({
    folder: fc.constantFrom(...FOLDERS),
    // Of modules before it, so that no circle is drawn; the last of them most often.
    imports: fc.array(fc.nat({ max: 5 }), { maxLength: 3 }),
    isLazy: fc.boolean()
  }),
  { minLength: 2, maxLength: 12 }
)

interface Module {
  readonly name: string
  readonly to: readonly string[]
  readonly code: string
}

function modulesOf(graph: typeof aGraph extends fc.Arbitrary<infer Graph> ? Graph : never) {
  const names = graph.map(({ folder }, at) => `${folder}m${at}.js`)
  return graph.map(({ imports, isLazy }, at): Module => {
    const all = new Set(imports.flatMap(back => names[at - 1 - back] ?? []))
    const [lazy, ...eager] = isLazy ? [...all] : ['', ...all]
    const name = names[at] ?? ''
    const pathTo = (to: string) => posix.relative(posix.dirname(`/${name}`), `/${to}`)
    const lines = eager.map(to => `import './${pathTo(to)}'`)
    if (lazy) lines.push(`import('./${pathTo(lazy)}')`)
    return {
      name,
      to: eager,
      code: `${lines.join('\n')}\nconsole.log('text of ${name}')`
    }
  })
}

/** The folders of all modules that load a module without `import()`, and of itself. */
function loadersOf(name: string, modules: readonly Module[]): string[] {
  const above = modules.filter(({ to }) => to.includes(name))
  return [name, ...above.flatMap(each => loadersOf(each.name, modules))]
}

/** Tells whether a folder has a script that a page or `import()` loads: it may be guarded. */
const hasPage = (folder: string, modules: readonly Module[]) =>
  modules.some(
    ({ name }) => name.startsWith(folder) && !modules.some(({ to }) => to.includes(name))
  )

test('model: no file outside of a folder has a module that only this folder loads, or of its pages', async t => {
  t.timeout(3_600_000)
  const property = fc.asyncProperty(aGraph, async graph => {
    const modules = modulesOf(graph)
    const files = Object.fromEntries(modules.map(({ name, code }) => [`js/${name}`, code]))
    const root = makeProject(t, placed(files))
    await run({ root, bundle: true, tails: false })
    const folder = join(root, 'public/assets')
    const published = filesBelow(folder).filter(name => name.endsWith('.js'))
    for (const { name } of modules)
      for (const guarded of FOLDERS) {
        const isOfPages = name.startsWith(guarded) && hasPage(guarded, modules)
        const isAlone = loadersOf(name, modules).every(each => each.startsWith(guarded))
        if (!isOfPages && !isAlone) continue
        const open = published.filter(file => !file.startsWith(guarded))
        const leak = open.find(file =>
          readFileSync(join(folder, file), 'utf8').includes(`of ${name}`)
        )
        if (leak !== undefined) throw new Error(`${leak} has ${name}, which ${guarded} guards`)
      }
  })
  const seed = Number(process.env['SEED'] ?? 1)
  await t.notThrowsAsync(fc.assert(property, { numRuns: cases(12, 300), seed }))
})
