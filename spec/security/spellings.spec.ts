// Thousands of spellings: whatever is served was asked for by its own path, as a guard reads it.
import test from 'ava'
import * as fc from 'fast-check'
import type { Middleware } from 'koa'
import { ENVIRONMENTS, makeFront } from '../support/front.ts'
import { ask } from '../support/raw.ts'
import { cases } from '../support/soak.ts'
import { PLACES, targetAt } from './places.ts'
import { makeStronghold, SECRET } from './stronghold.ts'

// Pieces of which every known trick is made, and some that are none yet.
const REQUESTS = cases(300, 3000)

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
const encoded = fc
  .tuple(fc.constantFrom(...OWN), fc.infiniteStream(fc.nat(99)))
  .map(([path, dice]) =>
    path
      .split('')
      .map(character => (dice.next().value < 95 ? character : percent(character)))
      .join('')
  )
const spelling = fc.oneof(
  soup.map(parts => `/${parts.join('')}`),
  soup.map(parts => parts.join('')),
  fc
    .tuple(fc.constantFrom('http://a', 'http://a:b', 'HTTPS://[::1]:1'), bent)
    .map(all => all.join('')),
  bent,
  encoded
)

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`
}

/** Nothing that stands in front of koaAssets may fail for a target that it cannot read. */
function readPath(read: () => string): string | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof TypeError || error instanceof URIError) return undefined
    throw error
  }
}

const placed = PLACES.flatMap(place =>
  Object.entries(ENVIRONMENTS).map(([name, environment]) => ({ place, name, environment }))
)

for (const { place, name, environment } of placed) {
  test(`S19 ${REQUESTS} spellings: what is served is the request’s own path, in ${name}${place.where}`, async t => {
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
    t.deepEqual(
      open.filter(path => !served.has(path)),
      []
    )
    t.deepEqual(
      front.errors.filter(error => error.message !== 'Forbidden'),
      []
    )
  })
}
