// A front web server over what precompile wrote: the same names, the same bytes as in-process.
import test, { type ExecutionContext } from 'ava'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ask, type Answer } from '../support/ask.ts'
import { placed, readManifest, run } from '../support/fingerprinted.ts'
import { freePort } from '../support/free-port.ts'
import { makeProject, makeSite } from '../support/site.ts'
import { until } from '../support/until.ts'
import { program } from './program.ts'

/** nginx over a public directory; its port. */
async function serveWithNginx(t: ExecutionContext, root: string): Promise<number> {
  const home = makeProject(t)
  for (const directory of [root, home]) chmodSync(directory, 0o755)
  const port = await freePort()
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  writeFileSync(
    join(home, 'nginx.conf'),
    `daemon off; pid ${home}/pid; error_log ${home}/error.log;
    events {}
    http {
      include /etc/nginx/mime.types;
      access_log off;
      ${folders.map(name => `${name}_temp_path ${home}/${name};`).join(' ')}
      server {
        listen 127.0.0.1:${port};
        root ${root}/public;
        gzip_static on;
        location ~ "-[0-9a-f]{32}\\." { add_header Cache-Control "public, max-age=31536000, immutable"; }
      }
    }`
  )
  const nginx = spawn(
    program('nginx', 'nginx-light'),
    ['-p', home, '-c', join(home, 'nginx.conf')],
    {
      stdio: 'ignore'
    }
  )
  const closed = once(nginx, 'close')
  t.teardown(async () => {
    nginx.kill()
    await closed
  })
  const answers = () => ask(port, '/').then(Boolean, () => false)
  await until(answers, 'nginx answers')
  return port
}

test('nginx with gzip_static sends what the process itself sends, under the same names', async t => {
  const root = makeProject(
    t,
    placed({
      'stylesheets/app.css.scss': 'a { background: url(logo.png) } '.repeat(50),
      'javascripts/app.js': 'go();'.repeat(100),
      'images/logo.png': 'logo',
      'images/a b ü.svg': '<svg/>'.repeat(100)
    })
  )
  await run({ root })
  const site = await makeSite(t, {}, { root, env: 'production' })
  const port = await serveWithNginx(t, root)
  const plainly = (answer: Answer) =>
    answer.headers['content-encoding'] === 'gzip' ? gunzipSync(answer.bytes) : answer.bytes
  const entries = Object.entries(readManifest(root).assets)
  t.is(entries.length, 4)
  for (const path of entries.flatMap(([plain, { target }]) => [plain, target])) {
    for (const accept of ['gzip', 'identity']) {
      const headers = { 'Accept-Encoding': accept }
      const [theirs, ours] = await Promise.all([
        ask(port, path, { headers }),
        site.ask(path, { headers })
      ])
      t.is(theirs.status, 200, path)
      t.is(ours.status, 200, path)
      t.is(theirs.headers['content-encoding'], ours.headers['content-encoding'], path)
      t.true(plainly(theirs).equals(plainly(ours)), path)
      t.true(theirs.bytes.equals(ours.bytes), path)
      t.is(theirs.headers['last-modified'], ours.headers['last-modified'], path)
      if (path.includes('-')) t.is(theirs.headers['cache-control'], ours.headers['cache-control'])
    }
  }
})
