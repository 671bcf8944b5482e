// What happens between the choice of a source and its reading.
import { renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { PlainNames } from '../../../../lib/assets/building/on-request/plain-names.ts'
import { settle } from '../../../../lib/assets/settings/settings.ts'
import { Sources } from '../../../../lib/assets/sources/sources.ts'
import { placed, readPublic } from '../../../support/fingerprinted.ts'
import { makeProject, type Files } from '../../../support/site.ts'

const FILES = {
  'x/app.css': 'first',
  '/apps/web/more/x/app.css': 'second',
  '/apps/web/more/x/big.bin': Buffer.alloc(1_100_000, 'second'),
  'x/big.bin': Buffer.alloc(1_100_000, 'first')
}

async function makeListed(t: ExecutionContext, files: Files) {
  const root = makeProject(t, placed(files))
  const settings = settle({ root, env: 'test', sources: 'more' })
  const [app] = settings.apps
  if (!app) throw new Error('there is no app')
  const warn = (message: string) => t.fail(message)
  const sources = new Sources(settings, warn)
  const publisher = new PlainNames(settings, sources, warn)
  // From here on events tell what changed; none arrives before the next turn of the event loop.
  await publisher.publish(app, 'none')
  const read = (name: string) => readPublic(root, `/assets/${name}`).toString()
  return { root, settings, app, sources, publisher, read, at: (path: string) => join(root, path) }
}

for (const name of ['app.css', 'big.bin']) {
  test(`PUB-15 ${name} that is removed during a request leaves its name to the next directory`, async t => {
    const { app, publisher, read, at } = await makeListed(t, FILES)
    unlinkSync(at(`apps/web/assets/x/${name}`))
    t.truthy(await publisher.publish(app, name))
    t.true(read(name).startsWith('second'))
  })

  test(`S24 ${name} that becomes a link out of its source leaves its name to the next directory`, async t => {
    const { root, app, publisher, read, at } = await makeListed(t, {
      ...FILES,
      '/outside/app.css': 'secret',
      '/outside/big.bin': Buffer.alloc(1_100_000, 'secret')
    })
    const source = at(`apps/web/assets/x/${name}`)
    symlinkSync(join(root, 'outside', name), `${source}.new`)
    renameSync(`${source}.new`, source)
    t.truthy(await publisher.publish(app, name))
    t.true(read(name).startsWith('second'))
    renameSync(at('apps/web/more/x'), at('apps/web/more/y'))
    t.truthy(await publisher.publish(app, name), 'the listing is read again')
    renameSync(at('apps/web/more'), at('apps/web/none'))
    t.is(await publisher.publish(app, name), undefined)
  })
}

test('PUB-15 a source that is removed and restored is used again', async t => {
  const { app, publisher, read, at } = await makeListed(t, FILES)
  const source = at('apps/web/assets/x/app.css')
  renameSync(source, at('away'))
  const publishing = publisher.publish(app, 'app.css')
  await publishing
  t.is(read('app.css'), 'second')
  renameSync(at('away'), source)
  await publisher.publish(app, 'app.css')
  t.is(read('app.css'), 'first')
})
