// Visitors of files that change all the time: a response is one of the versions that were on disk while it was asked for.
import { mkdirSync, renameSync, utimesSync } from 'node:fs'
import { dirname } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { cases, makeSite, test, until } from '../support/index.ts'

const CHANGES = cases(40, 2000)
const VISITORS = 12
const LARGE = 100_000

/** How often a version says what it is: each has a length of its own. */
const countOf = (version: number, isLarge: boolean) => (version % 40) + (isLarge ? LARGE : 3)

/** By URL path, the file behind it, and whether it is streamed. */
const FILES: Readonly<Record<string, readonly [file: string, isLarge: boolean]>> = {
  '/assets/sass.css': ['css/sass.css.scss', false],
  '/assets/plain.css': ['css/plain.css', false],
  '/static/small.css': ['/build/small.css', false],
  '/static/large.css': ['/build/large.css', true],
  '/public.css': ['/public/public.css', false]
}

const MODES = {
  'in development': { env: 'development' },
  'compiled in production': { env: 'production', compile: true, fingerprint: false },
  'with fingerprints on request': { env: 'production', compile: true }
} as const

for (const [mode, options] of Object.entries(MODES)) {
  test(`a response is one whole version of a file that is being edited, ${mode}`, async t => {
    const mounts = { '/static': 'build' }
    const site = await makeSite(t, {}, { ...options, mounts, revalidate: 0 })
    const latest = new Map<string, number>()
    const change = (path: string) => {
      const [file, isLarge] = FILES[path] ?? ['', false]
      const version = (latest.get(path) ?? 0) + 1
      site.write('/next', `a{order:${version}}\n`.repeat(countOf(version, isLarge)))
      // A version may be older than the one before it.
      if (version % 3 === 0) utimesSync(site.at('/next'), 1e9, 1e9 + version)
      mkdirSync(dirname(site.at(file)), { recursive: true })
      renameSync(site.at('/next'), site.at(file))
      latest.set(path, version)
    }
    const paths = Object.keys(FILES)
    for (const path of paths) change(path)
    const state = { isOver: false, responses: 0 }
    const visitor = async (number: number) => {
      const kept = new Map<string, readonly [etag: string, version: number]>()
      for (let visit = number; !state.isOver; visit++) {
        const path = paths[visit % paths.length] ?? ''
        const [etag, known] = kept.get(path) ?? []
        const headers = {
          ...(visit % 2 === 0 && { 'accept-encoding': 'gzip' }),
          ...(visit % 3 === 0 && etag !== undefined && { 'if-none-match': etag })
        }
        const first = latest.get(path) ?? 0
        const answer = await site.ask(path, { headers })
        const isGzip = answer.headers['content-encoding'] === 'gzip'
        const text = String(isGzip ? gunzipSync(answer.bytes) : answer.bytes)
        const rules = text.match(/order: ?\d+/g) ?? []
        const version = answer.status === 304 ? known : Number(/\d+/.exec(rules[0] ?? '')?.[0])
        const what = `${path} ${answer.status} ${version}`
        t.true(version !== undefined && version >= first, `${what}, from ${first}`)
        t.true(Number(version) <= (latest.get(path) ?? 0), `${what}, to ${latest.get(path)}`)
        state.responses++
        if (answer.status === 304) continue
        t.is(answer.status, 200, what)
        t.deepEqual(new Set(rules).size, 1, what)
        t.is(rules.length, countOf(Number(version), FILES[path]?.[1] ?? false), what)
        kept.set(path, [answer.headers.etag ?? '', Number(version)])
      }
    }
    const all = Array.from({ length: VISITORS }, (_, at) => visitor(at))
    const visitors = Promise.all(all).finally(() => (state.isOver = true))
    for (let at = 0; at < CHANGES; at++) {
      change(paths[at % paths.length] ?? '')
      const haveLooked = until(
        () => state.isOver || state.responses > 2 * at,
        'visitors have looked at it'
      )
      await Promise.race([haveLooked, visitors])
    }
    state.isOver = true
    await visitors
    t.deepEqual(site.errors, [])
  })
}
