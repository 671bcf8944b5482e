// A file system on which every watch succeeds, and nothing is told: network drives and some containers.
import { startProcess } from '../support/processes.ts'
import { ask, makeProject, test, until, writeFiles } from '../support/index.ts'

/** By URL path, the file behind it. */
const FILES = {
  '/assets/plain.css': 'apps/web/assets/css/plain.css',
  '/assets/sass.css': 'apps/web/assets/css/_part.scss',
  '/assets/new.css': 'apps/web/assets/css/new.css'
}
const LOOKS = 500

for (const options of [
  { env: 'development' },
  { env: 'production', compile: true, fingerprint: false }
])
  test(`edited and new sources are served within seconds without file events, in ${options.env}`, async t => {
    const root = makeProject(t, {
      'apps/web/assets/css/plain.css': 'a { b: one }',
      'apps/web/assets/css/sass.css.scss': "@use 'part';",
      'apps/web/assets/css/_part.scss': 'a { b: one }'
    })
    const { first } = await startProcess(t, 'silent-site.ts', { ...options, root })
    const shows = (path: string, text: string) =>
      until(async () => (await ask(Number(first), path)).text.includes(text), path, LOOKS)
    for (const path of ['/assets/plain.css', '/assets/sass.css']) await shows(path, 'one')
    t.is((await ask(Number(first), '/assets/new.css')).status, 404)
    for (const text of ['two', 'three'])
      for (const [path, file] of Object.entries(FILES)) {
        writeFiles(root, { [file]: `a { b: ${text} }` })
        await t.notThrowsAsync(shows(path, text), `${path} ${text}`)
      }
  })
