// Deltas in a browser, through nginx and Varnish. On a Node that cannot make them they are made by hand.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import compose from 'koa-compose'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { deltaFile, deltaName, isAble, offering } from '../support/deltas.ts'
import { ask, makeProject, makeSite, run, serial as test, targetOf } from '../support/index.ts'
import { until, writeFiles, type ExecutionContext } from '../support/index.ts'
import { launch } from './chromium.ts'
import { folderOf } from './installed.ts'
import { health, proxyInFront, varnishInFront } from './in-front.ts'
import { atRoot, dictionaries, transferOf } from './page.ts'

const LIBRARY = readFileSync(join(folderOf('katex'), 'dist/katex.min.js'), 'utf8')
const half = LIBRARY.indexOf(';', LIBRARY.length / 2) + 1

/** One line differs, in the middle of a script of 270 kB. */
const scriptOf = (release: number) =>
  `${LIBRARY}\nglobalThis.release = ${release}\n/* ${LIBRARY.slice(0, half).replaceAll('*/', '')} */\n`

const TARGET = '/assets/app.js'

const page = atRoot(ctx => {
  ctx.set('Cache-Control', 'no-store')
  return ctx.assets.javascript('app')
})

/** A site that is deployed again and again while it runs. */
async function makeDeployed(t: ExecutionContext) {
  const root = makeProject(t)
  let last = ''
  const deploy = async (release: number) => {
    const content = scriptOf(release)
    writeFiles(root, { 'apps/web/assets/app.js': content })
    await run({ root })
    const target = targetOf(root, TARGET)
    const delta = join('public', deltaName(target, last))
    if (last !== '' && isAble !== existsSync(join(root, delta))) throw new Error(`no ${delta}`)
    if (last !== '' && !isAble) writeFiles(root, { [delta]: deltaFile(last, content) })
    last = content
    return target
  }
  await deploy(0)
  const options = { root, env: 'production', revalidate: 0 } as const
  const { note, stored } = dictionaries()
  const front = compose([note, health])
  const site = await makeSite(t, {}, { ...options, front, routes: page })
  const redeploy = async (release: number) => {
    const target = await deploy(release)
    const isNamed = async () => (await site.ask('/')).text.includes(target)
    await until(isNamed, 'the page names the new release')
    return target
  }
  return { root, site, stored, deploy: redeploy }
}

test('behind nginx and Varnish, Chromium downloads less than a kilobyte after a changed line', async t => {
  const { site, stored, deploy } = await makeDeployed(t)
  const origin = `http://127.0.0.1:${await proxyInFront(t, await varnishInFront(t, site.port))}`
  const browser = launch(t)
  const first = await deploy(1)
  const visit = await browser.open(`${origin}/`)
  t.is(await visit.evaluate('release'), 1)
  const whole = await transferOf(visit, new RegExp(`${first}$`))
  t.is(whole.decodedBodySize, scriptOf(1).length)
  t.true(whole.encodedBodySize > 60_000, String(whole.encodedBodySize))
  await stored(visit)
  const second = await deploy(2)
  await visit.follow(`${origin}/?again`)
  t.is(await visit.evaluate('release'), 2)
  const delta = await transferOf(visit, new RegExp(`${second}$`))
  t.log(`${whole.encodedBodySize} bytes, then ${delta.encodedBodySize}`)
  t.is(delta.decodedBodySize, scriptOf(2).length)
  t.true(delta.encodedBodySize < 200, String(delta.encodedBodySize))
  t.true(delta.transferSize < 1000, String(delta.transferSize))
  t.regex(await visit.evaluate("document.querySelector('script').integrity"), /^sha384-/)
  t.deepEqual(visit.complaints, [])
  t.deepEqual(site.errors, [])
})

test('each of 480 mixed requests to Varnish gets the right variant of a file', async t => {
  const { root, site, deploy } = await makeDeployed(t)
  await deploy(1)
  const target = await deploy(2)
  const content = scriptOf(2)
  const name = join(root, 'public', deltaName(target, scriptOf(1)))
  const delta = readFileSync(name).subarray(0, -40)
  let reached = 0
  site.server.on('request', ({ url }) => void (url === target && reached++))
  const port = await varnishInFront(t, site.port)
  const { 'accept-encoding': ALL } = offering('')
  const dictionaries = { none: {}, unknown: offering('x'), known: offering(scriptOf(1)) }
  const codings = [ALL, 'gzip', 'br', 'gzip, dcz', 'dcz', 'br, dcz;q=0', '*', undefined]
  const readers = [{}, { 'sec-fetch-mode': 'no-cors', 'sec-fetch-site': 'cross-site' }]
  const seen = new Map<string, number>()
  const once = async (number: number) => {
    // All variants ten times, in an order that is the same in each run.
    const at = (number * 7919) % 48
    const [dictionary = 'none', fields] = Object.entries(dictionaries)[at % 3] ?? []
    const coding = codings[Math.floor(at / 3) % 8]
    const reader = readers[Math.floor(at / 24)]
    const { 'accept-encoding': _, ...offered } = { 'accept-encoding': '', ...fields }
    const accepted = coding === undefined ? {} : { 'accept-encoding': coding }
    const headers = { ...offered, ...reader, ...accepted }
    const answer = await ask(port, target, { headers })
    const encoding = answer.headers['content-encoding'] ?? 'identity'
    const what = `${dictionary}, ${coding}, ${encoding}`
    const isNamed = coding?.includes('dcz') === true && !coding.includes('q=0')
    const isWanted = dictionary === 'known' && isNamed && at < 24
    t.is(answer.status, 200, what)
    t.is(encoding === 'dcz', isWanted, what)
    if (encoding === 'dcz') t.true(answer.bytes.equals(delta), what)
    else if (encoding === 'br') t.is(brotliDecompressSync(answer.bytes).toString(), content, what)
    else if (encoding === 'gzip') t.is(gunzipSync(answer.bytes).toString(), content, what)
    else t.is(answer.text, content, what)
    t.is(answer.headers.vary, 'Accept-Encoding, Available-Dictionary')
    seen.set(encoding, (seen.get(encoding) ?? 0) + 1)
  }
  for (let begin = 0; begin < 480; begin += 10) {
    await Promise.all(Array.from({ length: 10 }, (_, at) => once(begin + at)))
  }
  t.log(Object.fromEntries(seen))
  t.true((seen.get('dcz') ?? 0) > 25)
  t.is(reached, 10, 'all others are hits')
})
