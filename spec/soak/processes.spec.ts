// Several processes over one public directory, and processes that die.
import { once } from 'node:events'
import {
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { startProcess, startSite } from '../support/processes.ts'
import { ask } from '../support/raw.ts'
import type { Readings } from '../support/reader-process.ts'
import { makeProject } from '../support/site.ts'
import { assetAt, COUNT, versionOf, writeVersion } from '../support/versions.ts'

const READS = 20_000

test.serial(
  'two processes publish the same 500 assets while a third reads: no body is short, empty or mixed',
  async t => {
    t.timeout(300_000)
    const root = makeProject(t)
    const versions = new Map<number, number>()
    const edit = (at: number) => {
      versions.set(at, (versions.get(at) ?? -1) + 1)
      writeVersion(root, at, versions.get(at) ?? 0)
    }
    for (let at = 0; at < COUNT; at++) edit(at)
    const publishing = { root, env: 'test' }
    const [one, two, bystander] = await Promise.all([
      startSite(t, publishing),
      startSite(t, publishing),
      startSite(t, { root, env: 'production', fingerprint: false, revalidate: 0 })
    ])
    for (let at = 0; at < COUNT; at++) {
      const answer = await ask(one.port, 'GET', `/assets/${assetAt(at).name}`)
      t.is(versionOf(at, answer.text), 0, assetAt(at).name)
    }
    const ports = [one.port, two.port, bystander.port]
    const { child: reader } = await startProcess(t, 'reader-process.ts', ports, READS)
    let next = 0
    const readings = await new Promise<Readings>((resolve, reject) => {
      reader.on('exit', () => reject(new Error('the reader is gone')))
      reader.on('message', (message: Readings | string) => {
        if (typeof message !== 'string') return resolve(message)
        for (let count = 0; count < 10; count++) edit((next++ * 13) % COUNT)
      })
    })
    t.deepEqual(readings.faults, [])
    t.is(readings.reads, READS)
    t.true(readings.versions > COUNT * 4, `${readings.versions} versions were seen`)
    for (const port of ports) {
      for (let at = 0; at < COUNT; at++) {
        const answer = await ask(port, 'GET', `/assets/${assetAt(at).name}`)
        t.is(versionOf(at, answer.text), versions.get(at), `the last ${assetAt(at).name}`)
      }
    }
    t.deepEqual(temporaries(join(root, 'public/assets')), [])
  }
)

function temporaries(directory: string): string[] {
  return readdirSync(directory).filter(name => name.endsWith('.tmp'))
}

test.serial('a process that is killed while it publishes leaves no partial file', async t => {
  t.timeout(120_000)
  const size = 64 * 1024 * 1024
  const root = makeProject(t, {
    'apps/web/assets/films/film.bin': '',
    'apps/web/assets/films/other.txt': 'other',
    'public/assets/film.bin': 'the last good film',
    'public/assets/.koa-fresh-assets-notes.txt': 'not of ours'
  })
  const source = join(root, 'apps/web/assets/films/film.bin')
  truncateSync(source, size)
  const directory = join(root, 'public/assets')
  for (let attempt = 0; temporaries(directory).length === 0; attempt++) {
    t.true(attempt < 30, 'a process is caught in the act')
    writeFileSync(join(directory, 'film.bin'), 'the last good film')
    utimesSync(join(directory, 'film.bin'), 1e9, 1e9)
    const { child, port } = await startSite(t, { root, env: 'development' })
    const gone = once(child, 'exit')
    ask(port, 'GET', '/assets/film.bin').catch(() => undefined)
    while (
      temporaries(directory).length === 0 &&
      statSync(join(directory, 'film.bin')).size < size
    ) {
      await new Promise(resolve => setImmediate(resolve))
    }
    child.kill('SIGKILL')
    await gone
    const left = statSync(join(directory, 'film.bin')).size
    t.true(left === 'the last good film'.length || left === size, `${left} bytes are left`)
  }
  const { port } = await startSite(t, { root, env: 'development' })
  t.is((await ask(port, 'GET', '/assets/other.txt')).text, 'other')
  t.is((await ask(port, 'GET', '/assets/film.bin')).body.length, size)
  t.is(readFileSync(join(directory, '.koa-fresh-assets-notes.txt'), 'utf8'), 'not of ours')
})
