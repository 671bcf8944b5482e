// Requests for fingerprinted names, precompiled and built on request, and for names that look like these.
import { digestOf, makeFingerprinted, MODES, test, until } from '../../support/index.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const other = '0123456789abcdef'.repeat(2)

for (const mode of MODES) {
  const revalidated = mode === 'live' ? 'no-cache' : 'public, max-age=0, must-revalidate'

  test(`a name that ends in 32 other hex characters is an ordinary name (${mode})`, async t => {
    const [logo, twin] = [`logo-${other}.png`, `app-${other}.css`]
    const site = await makeFingerprinted(t, mode, {
      [logo]: 'logo',
      'app.css': 'a{}',
      [twin]: `b { background: url(${logo}) }`,
      [`/public/assets/upload-${other}.jpg`]: 'upload',
      [`/public/uploads/photo-${other}.jpg`]: 'photo'
    })
    const fingerprinted = `/assets/logo-${other}-${digestOf('logo')}.png`
    t.is(await site.path(logo), fingerprinted)
    t.is((await site.ask(fingerprinted)).headers['cache-control'], IMMUTABLE)
    for (const [path, text] of [
      [`/assets/${logo}`, 'logo'],
      [`/assets/${twin}`, `b { background: url(${fingerprinted}) }`],
      [`/assets/upload-${other}.jpg`, 'upload'],
      [`/uploads/photo-${other}.jpg`, 'photo']
    ] as const) {
      for (let asked = 0; asked < 2; asked++) {
        const response = await site.ask(path)
        t.deepEqual([response.status, response.text], [200, text], path)
        t.is(response.headers['cache-control'], revalidated, path)
      }
    }
    await site.edit({ [logo]: 'newer' })
    await until(async () => (await site.ask(`/assets/${logo}`)).text === 'newer', 'the new logo')
    t.is((await site.ask(fingerprinted)).text, 'logo', 'what an open page asks for')
  })
}
