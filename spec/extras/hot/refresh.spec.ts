// Which modules are published so that their components keep their state, and with what.
import { SourceMap, type SourceMapPayload } from 'node:module'
import { join } from 'node:path'
import {
  makeProject,
  makeSite,
  test,
  warningsAbout,
  type ExecutionContext
} from '../../support/index.ts'
import type { Files, Site, SiteOptions } from '../../support/index.ts'

const COUNTER = `import { useState } from 'react'

interface Props { readonly name: string }

export function Counter({ name }: Props) {
  const [count, setCount] = useState(0)
  const more = () => setCount(count + 1)
  return <button onClick={more}>{name} {count}</button>
}
`
const REACT = { dependencies: { react: '19' }, devDependencies: { 'react-refresh': '0.19' } }

const withPackages = (json: object): Files => ({ '/package.json': JSON.stringify(json) })

const UNPREPARED = withPackages({ dependencies: { react: '19' } })

async function published(t: ExecutionContext, files: Files, options: SiteOptions = {}) {
  const site = await makeSite(t, files, { missing: 'ignore', packages: false, ...options })
  return { site, code: await codeOf(site) }
}

const codeOf = async (site: Site) => (await site.ask('/assets/counter.js')).text

const REGISTERED = /\$RefreshReg\$\(_c, "Counter"\)/

test('a component in TSX is published with all that React Refresh needs', async t => {
  const { code } = await published(t, { 'scripts/counter.tsx': COUNTER, ...withPackages(REACT) })
  t.regex(code, REGISTERED)
  t.regex(code, /_s\(Counter, "/)
  t.regex(code, /koaFreshAssetsRefresh\?\.react\.follow\(import\.meta\.url/)
  t.notRegex(code, /prefresh/)
})

test('the source map of a module with a component leads to the source that was written', async t => {
  const { code } = await published(t, { 'scripts/counter.tsx': COUNTER, ...withPackages(REACT) })
  const data = /sourceMappingURL=data:[^,]+,(\S+)\n$/.exec(code)?.[1] ?? ''
  const payload = JSON.parse(Buffer.from(data, 'base64').toString()) as SourceMapPayload
  const lines = code.split('\n')
  const line = lines.findIndex(each => each.includes('const more'))
  const column = lines[line]?.indexOf('more') ?? -1
  const entry = new SourceMap(payload).findEntry(line, column)
  if (!('originalSource' in entry)) throw new Error('it leads nowhere')
  const written = COUNTER.split('\n')[entry.originalLine]?.slice(entry.originalColumn)
  t.deepEqual([entry.originalSource, written?.slice(0, 7)], ['counter.tsx', 'more = '])
})

const PLAIN = `import { createElement, useState } from 'react'
export const Counter = () => createElement('button', null, useState(0)[0])
`
for (const [name, file, code] of [
  ['JSX', 'counter.jsx', 'export const Counter = () => <p>1</p>\n'],
  ['TypeScript', 'counter.ts', PLAIN],
  ['plain JavaScript', 'counter.js', PLAIN]
] as const) {
  test(`a component in ${name} is registered for React Refresh`, async t => {
    const files = { [`scripts/${file}`]: code, ...withPackages(REACT) }
    t.regex((await published(t, files)).code, REGISTERED)
  })
}

for (const [title, files, options] of [
  ['without react-refresh', UNPREPARED, {}],
  ['in production', withPackages(REACT), { env: 'production', compile: true }],
  ['in tests', withPackages(REACT), { env: 'test' }],
  ['with hot: false', withPackages(REACT), { hot: false }],
  ['with live: false', withPackages(REACT), { live: false }]
] as const) {
  test(`a component is published as its compiler made it ${title}`, async t => {
    const { code } = await published(t, { 'scripts/counter.tsx': COUNTER, ...files }, options)
    t.regex(code, /function Counter/)
    t.notRegex(code, /\$Refresh/)
  })
}

test('an edit of a component without react-refresh is reported with the packages to install', async t => {
  const files = { 'scripts/counter.tsx': COUNTER, ...UNPREPARED }
  const { site } = await published(t, files)
  const told = () => warningsAbout('an edited component loses its state').length
  const before = told()
  for (const edit of ['a', 'b']) {
    site.write('scripts/counter.tsx', `${COUNTER}// ${edit}\n`)
    await codeOf(site)
    t.is(told(), before + 1, edit)
  }
  t.regex(warningsAbout('loses its state').at(-1) ?? '', /npm install -D rolldown react-refresh$/)
  const { site: prepared } = await published(t, { ...files, ...withPackages(REACT) })
  prepared.write('scripts/counter.tsx', `${COUNTER}// c\n`)
  await codeOf(prepared)
  t.is(told(), before + 1)
})

test('a module without components or hooks is published as it was written', async t => {
  const code = "import { version } from 'react'\nconst  shown = version\nexport { shown }\n"
  const made = await published(t, { 'scripts/counter.js': code, ...withPackages(REACT) })
  t.is(made.code, code)
})

test('a component in a source directory of another workspace is registered like one of the app', async t => {
  const workspace = makeProject(t, {
    'package.json': '{ "workspaces": ["*"] }',
    'shop/package.json': JSON.stringify(REACT),
    'ui/package.json': '{ "peerDependencies": { "react": "19" } }',
    'ui/src/counter.tsx': COUNTER
  })
  const options = { root: join(workspace, 'shop'), sources: { dir: '../../../ui/src', at: '/' } }
  t.regex((await published(t, {}, options)).code, REGISTERED)
})
