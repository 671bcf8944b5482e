// What real packages hold: every reference of theirs leads somewhere.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isBare } from '../../lib/publishing/references/modules.ts'
import { findReferences } from '../../lib/publishing/references/references.ts'
import type { Compiler } from '../../lib/runtime/settings/compiler.ts'
import type { AppOptions } from '../../lib/runtime/settings/options.ts'
import { folderOf } from './installed.ts'
import { digestIn, digestOf, makeProject } from '../support/index.ts'
import { readManifest, readPublic, run, test, withDigest, words } from '../support/index.ts'
import { lexer } from '../support/ready.ts'

const CORPUS = {
  bootstrap: ['bootstrap/dist'],
  fontawesome: words('css webfonts sprites js').map(
    name => `@fortawesome/fontawesome-free/${name}`
  ),
  katex: ['katex/dist'],
  leaflet: ['leaflet/dist'],
  inter: ['@fontsource/inter']
}

/** Stylesheets to be included in a site's own: no page asks for them. */
const unused: Compiler = { extensions: '.scss', target: '.css', compile: () => ({ code: '' }) }

const apps = Object.fromEntries(
  Object.entries(CORPUS).map(([name, folders]): [string, AppOptions] => [
    name,
    { sources: folders.map(folder => folderOf(folder)), compilers: [unused] }
  ])
)

const PRINTED = withDigest(/-DIGEST\.\w+$/)

test('every reference in stylesheets and scripts of well-known packages leads to a published file', async t => {
  const root = makeProject(t)
  const { warnings, assets: count } = await run({ root, apps })
  t.deepEqual(warnings, [])
  t.true(count > 500, String(count))
  let references = 0
  for (const [plain, { target, size }] of Object.entries(readManifest(root).assets)) {
    const bytes = readPublic(root, target)
    t.is(bytes.length, size, target)
    t.is(digestOf(bytes), digestIn(target) ?? '', target)
    if (!/\.(?:css|m?js)$/.test(plain)) continue
    const isStyle = plain.endsWith('css')
    const inModule = isStyle ? [] : lexer.find(String(bytes)).references
    const written = findReferences(isStyle ? 'css' : 'js', String(bytes))
    for (const reference of [...written, ...inModule]) {
      const { path, kind } = reference
      if (isBare(reference) || (kind === 'source-map' && !path.startsWith('/'))) continue
      references++
      t.regex(path, PRINTED, `${plain} refers to ${path}`)
      t.true(existsSync(join(root, 'public', decodeURIComponent(path))), `${plain}: ${path}`)
    }
  }
  t.true(references > 1000, String(references))
})
