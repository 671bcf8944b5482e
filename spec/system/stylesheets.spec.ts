// Joined stylesheets in Chromium: a model of the cascade.
import * as fc from 'fast-check'
import { makeProject, placed, readManifest, run, test, writeFiles } from '../support/index.ts'
import type { Files } from '../support/index.ts'
import { visit } from './page.ts'

const PROJECTS = 60
const SHEETS = 6
const CONDITIONS = ['', 'layer(a)', 'layer(b)', 'layer', 'print', '(min-width: 1px)'] as const
const SUPPORTS = ['', '', 'supports(display: grid)', 'supports(display: none-such)'] as const

const rule = fc.record({
  element: fc.nat({ max: 3 }),
  isImportant: fc.boolean(),
  around: fc.constantFrom('', '', '@layer a', '@layer b', '@media (min-width: 1px)', '@layer c')
})
const sheet = fc.record({
  layers: fc.constantFrom('', '', '@layer b, a;'),
  imports: fc.array(
    fc.record({
      to: fc.nat({ max: SHEETS }),
      condition: fc.constantFrom(...CONDITIONS),
      supports: fc.constantFrom(...SUPPORTS),
      isElsewhere: fc.integer({ min: 0, max: 7 }).map(at => at === 0)
    }),
    { maxLength: 4 }
  ),
  rules: fc.array(rule, { maxLength: 3 }),
  /** The part that is moved to the end: a browser ignores imports behind others. */
  isLast: fc.constantFrom(undefined, undefined, undefined, undefined, 0, 1, 2)
})

type Sheet = typeof sheet extends fc.Arbitrary<infer Value> ? Value : never

/** Sheets import later ones alone: under other URLs in production, a cycle is another one there. */
const project = fc.array(sheet, { minLength: SHEETS, maxLength: SHEETS })

function filesOf(sheets: readonly Sheet[]): Files {
  return Object.fromEntries(
    sheets.map(({ layers, imports, rules, isLast }, at) => {
      const later = imports.filter(({ to }) => at + 1 + to < SHEETS)
      const imported = later.map(({ to, condition, supports, isElsewhere }, nth) => {
        const own = `./s${at + 1 + to}.css`
        const url = isElsewhere ? `data:text/css,.e${nth}{--p:elsewhere${at}-${nth}}` : own
        // The order of these is that of the grammar: layer, supports, media.
        const [layer, media] = condition.startsWith('layer') ? [condition, ''] : ['', condition]
        return `@import "${url}" ${layer} ${supports} ${media};`
      })
      const written = rules.map(({ element, isImportant, around }, nth) => {
        const own = `.e${element} { --p: s${at}-${nth}${isImportant ? ' !important' : ''} }`
        return around ? `${around} { ${own} }` : own
      })
      const parts = [layers, ...imported, ...written]
      const moved = isLast === undefined ? [] : parts.splice(isLast, 1)
      return [`s${at}.css`, [...parts, ...moved].join('\n')]
    })
  )
}

/** What each element of each project has. */
const SEEN = (urls: readonly string[]) => `(async () => {
  const seen = []
  for (const href of ${JSON.stringify(urls)}) {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href })
    await new Promise(resolve => { link.onload = link.onerror = resolve; document.head.append(link) })
    seen.push([0, 1, 2, 3].map(at =>
      getComputedStyle(document.querySelector('.e' + at)).getPropertyValue('--p')).join())
    link.remove()
  }
  return seen
})()`

test('random stylesheets give the same computed styles joined as in development', async t => {
  const projects = fc.sample(project, PROJECTS).map(filesOf)
  const files = projects.flatMap((sheets, number) =>
    Object.entries(sheets).map(([name, text]) => [`css/p${number}/${name}`, text] as const)
  )
  const root = makeProject(t)
  const names = projects.map((_, number) => `p${number}/s0.css`)
  writeFiles(root, {
    ...placed(Object.fromEntries(files)),
    'views/page.ejs': names.map(name => `<%- assets.stylesheet('${name}') %>`).join('\n')
  })
  const view = () => [0, 1, 2, 3].map(at => `<i class="e${at}"></i>`).join('')
  const options = { root, bundle: true, minify: true } as const
  const development = await visit(t, { ...options, view })
  const paths = names.map(name => `/assets/${name}`)
  const expected = await development.page.evaluate<string[]>(SEEN(paths))
  const report = await run({ ...options, env: 'production' })
  t.true((report.sheets?.imports ?? 0) > PROJECTS / 2)
  const { assets } = readManifest(root)
  const production = await visit(t, { ...options, env: 'production', view })
  const urls = names.map(name => assets[`/assets/${name}`]?.target ?? '')
  const actual = await production.page.evaluate<string[]>(SEEN(urls))
  for (const [number, seen] of actual.entries())
    t.is(seen, expected[number] ?? '', JSON.stringify(projects[number], null, 1))
})
