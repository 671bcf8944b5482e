// What development has published is not part of a deploy: production serves what it would from a clean checkout.
import { makeProject, makeSite, run, test, writeFiles } from '../../support/index.ts'
import type { ExecutionContext, Files } from '../../support/index.ts'

const sources = (version: string): Files => ({
  'apps/web/assets/stylesheets/site/app.css': `.${version} {}`,
  'apps/web/assets/stylesheets/print.css': `.${version}-print {}`,
  'apps/web/assets/images/a/b/logo.png': version,
  'apps/web/assets/images/x/admin/menu.png': `${version} of web`,
  'apps/admin/assets/images/menu.png': `${version} of admin`
})
/** Of nobody's sources: files that a person put into public. */
const OWN: Files = {
  'public/assets/stylesheets/own.css': '.own {}',
  'public/assets/admin/images/own.png': 'own'
}

/** Each path below which a file may be asked for, of any part of the path of a source. */
const PATHS = [...Object.keys(sources('v1')), ...Object.keys(OWN)].flatMap(file => {
  const parts = file.split('/').slice(2)
  const tails = parts.map((_, at) => parts.slice(at).join('/'))
  return tails.flatMap(tail => [`/assets/${tail}`, `/assets/admin/${tail}`])
})

async function sentIn(t: ExecutionContext, root: string, env: string) {
  const site = await makeSite(t, {}, { root, env })
  const sent = PATHS.map(async path => [path, (await site.ask(path)).text] as const)
  return Promise.all(sent)
}

test('files that development published change nothing that production serves', async t => {
  const [worked, clean] = [makeProject(t, { ...sources('v1'), ...OWN }), makeProject(t, OWN)]
  const published = await sentIn(t, worked, 'development')
  t.true(published.filter(([, text]) => text.includes('v1')).length >= 12)
  for (const root of [worked, clean]) {
    writeFiles(root, sources('v2'))
    await run({ root })
  }
  t.deepEqual(await sentIn(t, worked, 'production'), await sentIn(t, clean, 'production'))
})
