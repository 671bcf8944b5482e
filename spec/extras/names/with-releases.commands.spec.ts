// The flag --views of `verify`, the option `views`, and the command `types`.

import * as fc from 'fast-check'
import { makeShop, run } from '../../publishing/cli/run.ts'
import { precompile } from '../../../lib/publishing/building/precompile.ts'
import { settleForPrecompile } from '../../../lib/runtime/app/extras.ts'
import { helpAt } from '../../../lib/runtime/errors.ts'
import { checkViews } from '../../../lib/extras/names/check.ts'
import { aPlan, type App, make, type Plan } from '../../support/names/project.ts'
import { Rule } from '../../support/names/rule.ts'
import { AS_WRITTEN, cases, placed, serial as test, writeFiles } from '../../support/index.ts'

const configured = (views: string | readonly string[]) => ({
  '/assets.config.json': JSON.stringify({ views, ...AS_WRITTEN })
})

test('precompile and verify warn of a glob in the option views that matches no file', async t => {
  const view = { '/views/a.ejs': "<%- assets.stylesheet('app') %>" }
  const config = configured(['views/*.ejs', 'views'])
  const root = makeShop(t, { 'app.css': 'a{}', ...view, ...config })
  const warning = "warning: views: 'views' matches no file of the project: correct or remove it\n"
  for (const command of ['precompile', 'verify']) {
    const { status, stderr } = await run(root, command)
    t.deepEqual([status, stderr.endsWith(warning)], [0, true], stderr)
    t.false(stderr.includes('*.ejs'), stderr)
  }
})

test('without the option views a wrong name in a usual folder of views is a warning', async t => {
  const view = "<%- assets.stylesheet('apq') %> <%- image('b.png') + assets.entry('b.ts') %>"
  const root = makeShop(t, {
    'app.css': 'a{}',
    '/views/a.ejs': view,
    '/pages/b.ejs': view,
    '/assets.config.json': JSON.stringify(AS_WRITTEN)
  })
  const warning = "warning: views/a.ejs:1 'apq.css' is not an asset; did you mean 'app.css'?\n"
  for (const command of ['precompile', 'verify']) {
    const { status, stderr } = await run(root, command)
    t.is(status, 0)
    t.deepEqual(stderr.match(/^warning: .*\n/gm), [warning])
  }
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/not-built-yet.json' } }
  writeFiles(root, { 'assets.config.json': JSON.stringify({ ...AS_WRITTEN, mounts }) })
  t.false((await run(root, 'precompile')).stderr.includes('warning'))
})

const VIEW: readonly (readonly [line: string, problem?: string])[] = [
  ["assets.stylesheet('app')"],
  ["assets.stylesheet('apq')", "'apq.css' is not an asset; did you mean 'app.css'?"],
  ["assets.path('icons/crat.svg')", "'icons/crat.svg' is not an asset; did you mean 'cart.svg'?"],
  ["assets.importMap({ entry: 'shpo' })", "'shpo.js' is not an asset; did you mean 'shop.js'?"],
  ["importMap({ entry: ['shop', `crat`] })", "'crat.js' is not an asset; did you mean 'chart.js'?"],
  [
    "assets.stylesheet('App')",
    "'App.css' is not an asset; did you mean 'app.css'? It differs in upper and lower case"
  ],
  [
    "assets.path('E\u0301.svg')",
    "'E\u0301.svg' is not an asset; did you mean '\u00c9.svg'? It has its accents in another Unicode form (NFC, NFD)"
  ],
  ["importMap({ nonce: 'shpo' })"],
  ["importMap({ entry: name, imports: { a: 'shpo' } })"],
  ["assets.app('web').path('app.css')"],
  ["assets.push('app')"],
  ["assets.stylesheeet('app')"],
  ["shop.stylesheeet('app')"]
]

test('verify --views fails with file, line and the nearest name of each wrong name', async t => {
  const views = 'views/**/*.ejs'
  const images = { 'cart.svg': '', '\u00c9.svg': '' }
  const assets = { 'app.css': 'a{}', 'shop.js': '', 'chart.js': '', ...images }
  const root = makeShop(t, {
    ...assets,
    '/views/a.ejs': VIEW.map(([line]) => `<%- ${line} %>`).join('\n'),
    '/assets.config.json': '{}'
  })
  const { status, stdout, stderr } = await run(root, `verify --views ${views}`)
  t.is(status, 1)
  t.regex(stdout, /^\d+ names in 1 view, 6 problems\nSee .*production\.md#names-in-views\n$/)
  const lines = VIEW.map(([, problem], at) => (problem ? `views/a.ejs:${at + 1} ${problem}\n` : ''))
  t.is(stderr, lines.join(''))
  const report = await run(root, `verify --views ${views} --json`)
  t.like(JSON.parse(report.stdout), { files: 1, problems: [{ name: 'apq', near: 'app.css' }] })
  for (const [line, message] of [
    ['verify --views views/*.njk', / matches views\/\*\.njk$/m],
    ['verify --views views/a.ejs views/b.ejs', /--views takes one glob/],
    ['verify --views', /--views requires a glob, or the option views/]
  ] as const) {
    const refused = await run(root, line)
    t.is(refused.status, 2)
    t.regex(refused.stderr, message)
  }
  writeFiles(root, placed({ '/views/a.ejs': VIEW[1]?.[0] ?? '', ...configured(views) }))
  const message = "views/a.ejs:1 'apq.css' is not an asset; did you mean 'app.css'?\n"
  const precompiled = await run(root, 'precompile')
  t.is(precompiled.status, 0)
  t.true(precompiled.stderr.endsWith(`warning: ${message}`), precompiled.stderr)
  t.is((await run(root, 'verify --views')).stderr, message)
  t.deepEqual(await run(root, 'verify'), {
    status: 1,
    stdout: `5 assets, 1 name in 1 view, 1 problem\nSee ${helpAt('production.md#names-in-views')}\n`,
    stderr: message
  })
})

/** By the model of names, before and after a precompile. */
async function check(plan: Plan): Promise<void> {
  const rule = new Rule(plan)
  const names = [...new Set(plan.apps.flatMap(app => rule.namesToTry(app)))]
  const view = names.map(name => `assets.path('${name}')`).join('\n')
  const views: (readonly [string, readonly App[]])[] = [
    ['views/all.txt', plan.apps],
    ...plan.apps.map(app => [`apps/${app.name}/views/own.txt`, [app]] as const)
  ]
  const { options, remove } = make(plan, Object.fromEntries(views.map(([path]) => [path, view])))
  const refusedIn = ([path, apps]: readonly [string, readonly App[]]) =>
    names.flatMap((name, at) =>
      apps.every(app => rule.lookUp(app, name)) ? [] : `${path}:${at + 1}`
    )
  const expected = views.flatMap(refusedIn).toSorted()
  try {
    const project = settleForPrecompile(options, {})
    const reported = async (isPublished: boolean) => {
      const { problems } = await checkViews(project, ['views/**', 'apps/*/views/**'], isPublished)
      const found = problems.map(({ path }) => path).toSorted()
      const command = isPublished ? 'verify' : '--views'
      if (found.join() !== expected.join())
        throw new Error(`${command} reports ${found.join()}, not ${expected.join()}`)
    }
    await reported(false)
    await precompile(project, { warn: () => undefined })
    await reported(true)
  } finally {
    await remove()
  }
}

test('the check of views accepts exactly the names that helpers find in production', async t => {
  const isPublishable = (plan: Plan) => {
    const rule = new Rule(plan)
    return rule.refused.length === 0 && !rule.isEmpty
  }
  const property = fc.asyncProperty(aPlan.filter(isPublishable), check)
  await t.notThrowsAsync(fc.assert(property, { numRuns: cases(8, 300) }))
})
