// Whatever inline() accepts loads nothing in a browser: random SVG files, many in each page, and a log of its requests.
import { createServer } from 'node:http'
import fc from 'fast-check'
import { readSvg } from '../../lib/extras/media/svg.ts'
import { cases, open, test, words } from '../support/index.ts'
import { launch } from './chromium.ts'

/** What each case asks for is told by its path. */
const urls = fc.nat(9).map(at => `/out/${at}`)
const gap = fc.constantFrom('', ' ', '<!---->', '<?x y?>', '<![CDATA[]]>', '<a:b/>', '\\')
const cased = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map(upper => Array.from(text, (one, at) => (upper[at] ? one.toUpperCase() : one)).join(''))
const nameOf = (...names: readonly string[]) =>
  fc.oneof(...names.map(fc.constant), ...names.map(cased))

const css = fc.oneof(
  urls.map(url => `url(${url})`),
  urls.map(url => `u\\72l("${url}")`),
  urls.map(url => `image-set("${url}" 1x)`),
  urls.map(url => `-webkit-image-set(url(${url}) 1x)`),
  urls.map(url => `src("${url}")`),
  fc.constantFrom('url(#a)', 'url("#a")', 'red', 'var(--a)', 'rotate(4)', 'url(#a')
)
const property = nameOf('fill', 'filter', 'mask', 'background', 'cursor', 'marker-start', '--a')
const declaration = fc.tuple(property, css).map(pair => pair.join(':'))
const rule = fc.oneof(
  declaration.map(text => `*{${text}}`),
  urls.map(url => `@import "${url}";`),
  urls.map(url => `@font-face{font-family:x;src:url(${url})}*{font-family:x}`)
)
/** A text with something in its middle that is left out when it is written. */
const broken = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(text, fc.nat(20), gap)
    .map(([all, at, between]) => all.slice(0, at) + between + all.slice(at))

const link = nameOf('href', 'xlink:href', 'src', 'data', 'poster', 'srcset', 'xml:base')
const attribute = fc.oneof(
  fc.tuple(link, urls),
  fc.tuple(property, css),
  fc.tuple(nameOf('style'), declaration),
  fc.tuple(nameOf('attributeName'), fc.oneof(link, property)),
  fc.tuple(nameOf('to', 'from', 'values', 'by'), fc.oneof(urls, css)),
  fc.constant(['id', 'a'] as [string, string])
)
const escaped = (value: string) =>
  value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
const element = fc
  .tuple(
    fc.constantFrom(...words('image use feImage set animate rect path g script IMAGE img mpath')),
    fc.uniqueArray(attribute, { maxLength: 3, selector: ([name]) => name })
  )
  .map(([name, attributes]) => {
    const written = attributes.map(([key, value]) => ` ${key}="${escaped(value)}"`)
    return `<${name}${written.join('')} width="9" height="9"/>`
  })
const file = fc.oneof(
  broken(rule).map(text => `<style>${text}</style><rect width="9" height="9"/>`),
  fc
    .array(element, { minLength: 1, maxLength: 3 })
    .map(all => `<filter id="a">${all.join('')}</filter>${all.join('')}`)
)

function inlined(inside: string): string | undefined {
  const text = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:a="a">${inside}</svg>`
  try {
    return readSvg(Buffer.from(text), '/a.svg').content
  } catch {
    return undefined
  }
}

test('no SVG file that inline() accepts makes a page load anything', async t => {
  const pages: string[] = []
  const asked: string[] = []
  const server = createServer((request, response) => {
    const [, at = ''] = /^\/page\/(\d+)$/.exec(request.url ?? '') ?? []
    if (at === '') asked.push(request.url ?? '')
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><link rel="icon" href="data:,">${pages[Number(at)] ?? ''}`)
  })
  const port = await open(t, server)
  const browser = launch(t)
  // The control: what is written without a look is loaded.
  pages.push('<svg><image href="/out/control" width="9" height="9"/></svg>')
  const load = (at: number) => browser.open(`http://127.0.0.1:${port}/page/${at}`)
  await load(0)
  t.deepEqual(asked.splice(0), ['/out/control'])
  const some = fc.sample(file, cases(3000, 10_000)).map(inlined)
  const accepted = some.filter(content => content !== undefined)
  t.true(accepted.length > 100)
  const AT_ONCE = 50
  for (let at = 0; at < accepted.length; at += AT_ONCE) {
    const contents = accepted.slice(at, at + AT_ONCE)
    pages.push(contents.map(content => `<svg width="20" height="20">${content}</svg>`).join('\n'))
    await load(pages.length - 1)
    t.deepEqual(asked, [], pages.at(-1))
  }
})
