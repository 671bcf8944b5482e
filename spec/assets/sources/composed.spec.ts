// Names whose accents are composed (NFC) or not (NFD), as APFS keeps and finds them.
import { linkSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import type { Middleware } from 'koa'
import { precompile } from '../../../lib/koa-assets.ts'
import { AS_WRITTEN } from '../../support/as-written.ts'
import { makeFront } from '../../support/front.ts'
import { ask } from '../../support/raw.ts'
import { makeProject, makeSite } from '../../support/site.ts'

const ASSETS = 'apps/web/assets'
const encoded = encodeURIComponent
const DECOMPOSED = 'E\u0301t\u00e9.svg'
const COMPOSED = '\u00c9t\u00e9.svg'

test('SRV-14 a source whose name macOS kept decomposed is the one that a view writes composed, in development and precompiled', async t => {
  const root = makeProject(t, { [`${ASSETS}/images/${DECOMPOSED}`]: '<svg/>' })
  const path = `/assets/${encoded(COMPOSED)}`
  const routes: Middleware = ctx => {
    if (ctx.path === '/page') ctx.body = ctx.assets.path(COMPOSED)
  }
  const development = await makeSite(t, {}, { root, env: 'development', routes })
  t.is((await development.ask('/page')).text, path)
  t.is((await development.ask(path)).text, '<svg/>')
  t.is((await development.ask(`/assets/${encoded(DECOMPOSED)}`)).status, 404, 'one spelling')
  const { manifest } = await precompile({ root, ...AS_WRITTEN })
  t.true(readFileSync(manifest, 'utf8').includes(`"${path}"`))
  const production = await makeSite(t, {}, { root, env: 'production', routes })
  const named = (await production.ask('/page')).text
  t.regex(named, /^\/assets\/%C3%89t%C3%A9-\w{32}\.svg$/)
  t.is((await production.ask(named)).text, '<svg/>')
})

test('SRV-14 two sources whose names differ only in how accents are written have one name', async t => {
  const root = makeProject(t, {
    [`${ASSETS}/images/${DECOMPOSED}`]: '1',
    [`${ASSETS}/images/${COMPOSED}`]: '2'
  })
  await t.throwsAsync(precompile({ root }), {
    message: new RegExp(`several sources in .* are published as ${COMPOSED}:`)
  })
})

test('SRV-14 a file that has both spellings, as on macOS, is found under the composed one; a guard compares one', async t => {
  const root = makeProject(t, { [`public/${COMPOSED}`]: 'composed', 'public/e\u0301.txt': 'other' })
  linkSync(join(root, 'public', COMPOSED), join(root, 'public', DECOMPOSED))
  for (const revalidate of [0, 3600]) {
    const { port } = await makeFront(t, {
      ...{ root, env: 'production', compile: false, fingerprint: false, revalidate }
    })
    for (let times = 0; times < 2; times++) {
      t.is((await ask(port, 'GET', `/${encoded(COMPOSED)}`)).text, 'composed')
      t.is((await ask(port, 'GET', `/${encoded(DECOMPOSED)}`)).status, 404)
      t.is((await ask(port, 'GET', '/e%CC%81.txt')).text, 'other', 'where it is another name')
    }
  }
})
