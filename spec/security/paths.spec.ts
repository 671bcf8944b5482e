// Ways out of public, and other spellings of a path.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { Middleware } from 'koa'
import { ask, signature } from '../support/raw.ts'
import { notOurs } from './not-ours.ts'
import { PLACES, targetAt } from './places.ts'
import { makeStronghold, SECRET } from './stronghold.ts'
import { cases, ENVIRONMENTS, checkMiss, makeFront, makeFronts, METHODS } from '../support/index.ts'
import { test, words, type ExecutionContext } from '../support/index.ts'

const ends: Array<Parameters<ExecutionContext['teardown']>[0]> = []
const wholeFile = { teardown: end => void ends.unshift(end) } as ExecutionContext
test.after.always(async () => {
  for (const end of ends) await end()
})

for (const place of PLACES) {
  const { where, at, options } = place
  // One for all specs that write nothing there.
  const root = makeStronghold(wholeFile)
  const shared = makeFronts(wholeFile, root, options)

  for (const [title, targets] of Object.entries(notOurs)) {
    test.serial(`${title}${where}`, async t => {
      const before = readdirSync(join(root, 'public'), { recursive: true })
      for (const target of targets) await checkMiss(t, await shared, targetAt(place, target))
      t.deepEqual(readdirSync(join(root, 'public'), { recursive: true }), before)
    })
  }

  test(`.well-known is served only at the root of the site${where}`, async t => {
    for (const { front } of await shared) {
      const answer = await ask(front.port, 'GET', `${at}/.well-known/x`)
      // RFC 8615: it is at the root of a host alone.
      t.deepEqual([answer.status, answer.text], at === '' ? [200, 'known'] : [404, 'Not Found'])
    }
  })
}

test('paths that only begin like the prefix or a mount are not found', async t => {
  const root = makeStronghold(t, { 'apps/web/assets/other/secret': SECRET })
  const fronts = await makeFronts(t, root)
  for (const target of words(`/assets-backup.sql /assetssecret /assetsapp.css /asset/app.css`))
    await checkMiss(t, fronts, target)
  t.false(existsSync(join(root, 'public/assets/secret')))
  const mounted = await makeFronts(t, root, { mounts: { '/files': 'public' } })
  for (const target of words(`/files-backup.sql /filesx /filesrobots.txt /files /file`))
    await checkMiss(t, mounted, target)
})

test('below the prefix and mounts alone, a path that cannot be decoded is a 400', async t => {
  const mounts = { '/static': 'public' }
  const fronts = await makeFronts(t, makeStronghold(t), { mounts })
  const broken = words(`
    % %zz %2 x% %c0%ae%c0%ae/x %C0%AF %E0%80%AE%E0%80%AE/x %E0%A4%A %ED%A0%80 %ED%BF%BF.css
    %F5%80%80%80 %FF %u002e%u002e/x app.js% app.js%00.png %00 app.js%00
  `)
  for (const { front, alone } of fronts) {
    for (const name of broken) {
      for (const method of METHODS) {
        for (const at of ['/assets', '/static']) {
          const answer = await ask(alone.port, method, `${at}/${name}`)
          t.is(answer.status, 400, `${method} ${at}/${name}`)
          t.is(answer.headers['cache-control'], 'no-store')
          t.is(answer.text, method === 'HEAD' ? '' : 'Bad Request')
        }
      }
    }
    t.deepEqual(front.errors.concat(alone.errors), [])
  }
  for (const name of [...broken, '%00/assets/app.js', 'robots.txt%00'])
    await checkMiss(t, fronts, `/${name}`)
})

test('a path of 64 KiB gets the same 404 as any missing file', async t => {
  const root = makeStronghold(t)
  const mounts = { '/static': { dir: 'public', index: 'index.html', fallback: 'index.html' } }
  for (const environment of Object.values(ENVIRONMENTS)) {
    const front = await makeFront(t, { root, ...environment, mounts, maxHeaderSize: 200_000 })
    const missing = await ask(front.port, 'GET', '/assets/no-such-file')
    for (const name of ['a'.repeat(65_536), 'a/'.repeat(32_768) + 'x', '%20a'.repeat(16_384)]) {
      for (const at of ['/assets', '/static']) {
        const answer = await ask(front.port, 'GET', `${at}/${name}`)
        t.is(signature(answer), signature(missing))
      }
    }
    t.deepEqual(front.errors, [])
  }
})

// Thousands of spellings: whatever is served was asked for by its own path, as a guard reads it.

// Pieces of which every known trick is made, and some that are none yet.
const REQUESTS = cases(150, 3000)

const pieces = [
  ...['/', '//', '\\', '%2F', '%2f', '%5C', '%5c', '.', '..', '%2e', '%2E', './', '../', '/./'],
  ...['admin', 'ADMIN', '%61dmin', 'a%64min', '%2561dmin', 'secret.html', 'secret%2ehtml', 'css'],
  ...['site.css', 'robots.txt', 'assets', 'app.css', '%61ssets', 'x', '~', '_', '-', ';', ';a=b'],
  ...['%00', '%0a', '%09', '%20', '+', '@', ':', '::$DATA', '?', '#', '&', '=', '%', '%25', '%3f'],
  ...['%c0%af', '%c0%ae', '%e0%80%af', '%EF%BC%8F', '%ef%bc%8e', '%u002f', '|', '^', '{', '"', '<'],
  ...['.well-known', '.env', '%', '%zz', "'", '(', '*', '!', '$', ','],
  ...['http://localhost', 'http://a:b', 'http:', 'https://', 'localhost', '[::1]', 'http://x@y']
]

const files: Readonly<Record<string, string>> = {
  '/admin/secret.html': SECRET,
  '/css/site.css': 'site',
  '/robots.txt': 'robots',
  '/index.html': 'index',
  '/.well-known/x': 'known',
  '/assets/app.css': 'body { color: red }',
  '/assets/app.js': 'console.log(1)'
}

/** Each file by its own path: these are served. */
const OWN = Object.keys(files)

const soup = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 8 })
const bent = fc
  .tuple(fc.constantFrom(...OWN), fc.nat(), fc.nat(3), fc.constantFrom(...pieces))
  .map(([path, at, cut, piece]) => {
    const start = at % (path.length + 1)
    return path.slice(0, start) + piece + path.slice(start + cut)
  })
const percent = (character: string) => `%${character.charCodeAt(0).toString(16)}`
const encoded = fc
  .tuple(fc.constantFrom(...OWN), fc.infiniteStream(fc.nat(99)))
  .map(([path, dice]) => path.replace(/./g, one => (dice.next().value < 95 ? one : percent(one))))
const spelling = fc.oneof(
  soup.map(parts => `/${parts.join('')}`),
  soup.map(parts => parts.join('')),
  fc
    .tuple(fc.constantFrom('http://a', 'http://a:b', 'HTTPS://[::1]:1'), bent)
    .map(all => all.join('')),
  bent,
  encoded
)

/** Nothing that stands in front of koaAssets may fail for a target that it cannot read. */
function readPath(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof TypeError || error instanceof URIError) return undefined
    throw error
  }
}

for (const place of PLACES) {
  for (const [name, environment] of Object.entries(ENVIRONMENTS))
    test(`of ${REQUESTS} paths only the exact path of a file is served, in ${name}${place.where}`, async t => {
      const root = makeStronghold(t)
      let path: string | undefined
      const guard: Middleware = (ctx, next) => {
        path = readPath(() => ctx.path)
        return path?.startsWith(`${place.at}/admin`) ? ctx.throw(403) : next()
      }
      const front = await makeFront(t, { root, ...environment, ...place.options, inFront: [guard] })
      const served = new Set<string>()
      const expected = (asked: string) =>
        asked.startsWith(`${place.at}/`) ? files[asked.slice(place.at.length)] : undefined
      await fc.assert(
        fc.asyncProperty(spelling, async target => {
          path = undefined
          const answer = await ask(front.port, 'GET', targetAt(place, target))
          if (answer.status !== 200) return [400, 403, 404].includes(answer.status)
          served.add(target)
          // The very path that the guard compared, and the bytes that belong to it.
          return path !== undefined && expected(path) === answer.text
        }),
        { numRuns: REQUESTS, examples: OWN.map(path => [path]) }
      )
      // The guard answers for the first, and a mount has nothing well-known.
      const open = OWN.filter(path => !/^\/(?:admin|\.well-known)\//.test(path))
      t.true(open.every(path => served.has(path)))
      t.true(front.errors.every(({ message }) => message === 'Forbidden'))
    })
}
