// Two containers over one public directory: one host name, other numbers of processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import picomatch from 'picomatch'
import { LOADER, makeProject, moduleFile, test, words } from '../support/index.ts'
import { program } from '../../demo/deploy/program.ts'

const CHILD = moduleFile('spec/support/container-child.ts')

/** A process with the number 1, in a process namespace of its own. */
function startContained(...words: readonly string[]) {
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const namespace = [...asRoot, '--pid', '--fork', '--mount-proc', '--kill-child']
  const command = [process.execPath, ...LOADER, CHILD, ...words]
  return spawn(program('unshare', 'util-linux'), [...namespace, ...command], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
}

test("a container leaves another's temporary files and lock alone", async t => {
  const directory = makeProject(t)
  const holder = startContained('hold', directory)
  t.teardown(() => holder.kill('SIGKILL'))
  const [said] = (await once(holder.stdout, 'data')) as [Buffer]
  t.is(String(said), 'process 1\n')
  const files = readdirSync(directory)
  t.is(files.length, 2)
  t.is(await text(startContained('visit', directory).stdout), 'process 1 precompile-busy\n')
  t.deepEqual(readdirSync(directory), files)
  holder.stdin.end()
  await once(holder, 'close')
  t.is(await text(startContained('visit', directory).stdout), 'process 1 undefined\n')
})

test('the .dockerignore of the demo keeps secrets, history, uploads and built files out of an image', t => {
  const lines = readFileSync('demo/deploy/Dockerfile.dockerignore', 'utf8').split('\n')
  const patterns = lines.filter(line => line !== '' && !line.startsWith('#'))
  // Docker leaves out what is below a directory that a pattern names, and has no other rule for dots.
  const globs = patterns.flatMap(pattern => [pattern, `${pattern}/**`])
  const isLeftOut = picomatch(globs, { dot: true })
  const leftOut =
    words(`.env .env.production packages/web/.env.local .git/config data/uploads/cv.pdf
    node_modules/koa/package.json packages/web/node_modules/koa/package.json
    public/assets/app.css public/assets.json`)
  for (const path of leftOut) t.true(isLeftOut(path), path)
  const inImage = words(`public/robots.txt apps/web/assets/images/env.svg .github/notes.md
    assets.config.js package-lock.json`)
  for (const path of inImage) t.false(isLeftOut(path), path)
})
