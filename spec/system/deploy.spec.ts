// A shop as docs/getting-started.md builds it, behind Varnish as docs/deploy.md says.
import { execFile, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { program } from '../../demo/deploy/program.ts'
import { freePort, started, startVarnish } from '../../demo/deploy/stack.ts'
import { ask } from '../support/ask.ts'
import { makeExample, readPage } from '../support/examples.ts'
import { until } from '../support/until.ts'

for (const [name, path, section] of [
  ['getting-started.md', 'docs/getting-started.md', 'One app'],
  ['deploy.md', 'docs/deploy.md', 'What these files expect']
] as const) {
  test(`the server of ${name} stays healthy behind Varnish`, async t => {
    const site = makeExample(t, { 'package.json': '{ "type": "module" }' })
    await site.run('npx koa-fresh-assets init')
    await site.follow(
      readPage(path)
        .take(section)
        .filter(({ file }) => file !== undefined)
    )
    await site.run('npx koa-fresh-assets precompile --env production')
    const ports = [await freePort(), await freePort(), await freePort()] as const
    for (const port of ports) {
      const env = { ...process.env, NODE_ENV: 'production', SERVE_STATIC_ASSETS: 'true' }
      const place = { PORT: String(port), HOST: '127.0.0.1' }
      const words = { cwd: site.root, env: { ...env, ...place } }
      const { stop } = await started(
        'server.js',
        spawn(process.execPath, ['server.js'], words),
        port
      )
      t.teardown(stop)
    }
    const home = join(site.root, 'varnish')
    const varnish = await startVarnish(
      resolve('demo/deploy'),
      { home, port: await freePort() },
      ports
    )
    t.teardown(varnish.stop)
    const admin = ['-n', join(home, 'varnish'), 'backend.list']
    const probes = async () => {
      const { stdout } = await promisify(execFile)(program('varnishadm', 'varnish'), admin)
      return Array.from(
        stdout.matchAll(/\.(?:one|two|three) .*?(\d\/3) +(\w+)/g),
        ([, good = '', state]) => `${good} ${state}`
      )
    }
    // At first every process is believed to have answered twice; three probes decide.
    await until(async () => !(await probes()).some(text => text.startsWith('2')), 'a third probe')
    t.deepEqual(await probes(), ['3/3 healthy', '3/3 healthy', '3/3 healthy'])
    t.is((await ask(varnish.port, '/')).status, 200)
  })
}
