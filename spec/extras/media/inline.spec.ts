// The helper inline: an SVG file as an element of the page.
import * as fc from 'fast-check'
import type { Middleware } from 'koa'
import { readSvg } from '../../../lib/extras/media/svg.ts'
import { assetSources, type CompileError } from '../../../lib/koa-assets.ts'
import { cases, makeFingerprinted, makeProject, makeSite, test } from '../../support/index.ts'

const SVG = 'xmlns="http://www.w3.org/2000/svg"'
const CART = `<?xml version="1.0" encoding="utf-8"?>
<!-- drawn by hand -->
<svg ${SVG} viewBox="0 0 2 1" class="line" width="16">
  <title>A &amp; B</title><path id="p" d="M0 0h2" fill="url(#g)"/><use href="#p"/>
</svg>`
const WRITTEN =
  '<svg viewBox="0 0 2 1" class="line" width="16">\n' +
  '  <title>A &amp; B</title><path id="p" d="M0 0h2" fill="url(#g)"></path><use href="#p"></use>\n</svg>'

// The directory of a third party, for all specs: the list only grows.
const theme = { 'images/icons/moon.svg': CART, 'images/icons/sun.svg': CART }
assetSources.append(makeProject({ teardown: end => test.after.always(end) }, theme))

const MODES = ['development', 'live', 'precompiled'] as const

for (const mode of MODES) {
  test(`inline() writes an SVG as an element, with the attributes that a view gives (${mode})`, async t => {
    const files = { 'images/icons/cart.svg': CART, '/apps/admin/assets/a.txt': '' }
    const apps = { web: { inline: 'icons/**' }, admin: {} }
    const site = await makeFingerprinted(t, mode, files, { apps })
    t.is(await site.render(assets => assets.inline('icons/cart.svg')), WRITTEN)
    const given = { class: 'icon', 'aria-hidden': 'true', viewbox: '0 0 4 2', width: null }
    const all = { ...given, title: '"<' }
    const [tag] = (await site.render(assets => assets.inline('icons/cart.svg', all))).split('\n')
    t.is(tag, '<svg viewBox="0 0 4 2" class="line icon" aria-hidden="true" title="&quot;&lt;">')
    await site.edit({ 'images/icons/cart.svg': `<svg ${SVG}><g/></svg>` })
    t.is(await site.render(assets => assets.inline('icons/cart.svg')), '<svg><g></g></svg>')
  })

  test(`inline() writes only what the option names, a third party's file by its full name (${mode})`, async t => {
    const files = { 'images/logo.svg': CART, 'images/icons/a.png': 'png' }
    const site = await makeFingerprinted(t, mode, files, { inline: ['icons/**', 'icons/sun.svg'] })
    const message =
      /^inline\(\) cannot write '.*': it is not a source, or the option inline does not name it/
    for (const name of ['logo.svg', 'icons/a.png', 'icons/moon.svg', 'https://cdn.example/a.svg']) {
      const written = site.render(assets => assets.inline(name))
      await t.throwsAsync(written, { instanceOf: TypeError, message }, name)
    }
    t.is(await site.render(assets => assets.inline('icons/sun.svg')), WRITTEN)
  })
}

const contentOrError = (inside: string, root = SVG) => {
  try {
    return readSvg(Buffer.from(`<svg ${root}>\n ${inside}</svg>`), '/a.svg').content
  } catch (error) {
    return error as CompileError
  }
}

const REFUSED: readonly (readonly [inside: string, reason: RegExp])[] = [
  ['<script>alert(1)</script>', /contains <script>/],
  ['<g><script href="data:,alert(1)"/></g>', /contains <script>/],
  ['<foreignObject><p/></foreignObject>', /contains <foreignObject>/],
  ['<a href="javascript:alert(1)"><path/></a>', /contains <a>/],
  ['<iframe src="/"/>', /contains <iframe>/],
  ['<img src="x"/>', /contains <img>/],
  ['<SCRIPT/>', /contains <SCRIPT>/],
  ['<path onclick="alert(1)"/>', /attribute onclick/],
  ['<g ONLOAD="alert(1)"/>', /attribute ONLOAD/],
  ['<use href="/icons.svg#a"/>', /href leads out/],
  [
    '<use xlink:href="https://a.example/#a" xmlns:xlink="http://www.w3.org/1999/xlink"/>',
    /xlink:href leads out/
  ],
  ['<image href="data:image/svg+xml;base64,PHN2Zz4="/>', /href leads out/],
  ['<use href="data:image/png;base64,AA=="/>', /href leads out/],
  ['<path fill="url(https://a.example/#a)"/>', /fill loads a file/],
  ['<path style="fill: URL( \'/a.svg#a\')"/>', /style loads a file/],
  ['<path style="background: u\\72l(/a.png)"/>', /style loads a file/],
  ['<g style="background: image-set(\'/a.png\' 1x)"/>', /style uses image-set/],
  ['<style>@import "/a.css";</style>', /style uses @import/],
  ['<style><![CDATA[a { background: url(//a.example) }]]></style>', /style loads a file/],
  ['<style>@im<?x y?>port "/a.css";</style>', /style uses @import/],
  ['<style>a { b: ur<!-- -->l(/a.png) }</style>', /style loads a file/],
  ['<style>a { b: src("/a.png") }</style>', /style uses src/],
  ['<style>a { b: url(/a .png) }</style>', /style is not CSS/],
  ['<style><g/></style>', /<style> contains <g>/],
  ['<style xmlns:x="x">ur<x:y/>l(/a.png)</style>', /<style> contains <x:y>/],
  ['<use HREF="/icons.svg#a"/>', /HREF leads out/],
  ['<path SRC="/a.png"/>', /attribute SRC/],
  ['<set attributename="href" to="/a"/>', /<set> changes href/],
  [`${'<g>'.repeat(3000)}${'</g>'.repeat(3000)}`, /nested too deeply/],
  ['<title><style/></title>', /<title> contains <style>/],
  ['<animate attributeName="href" to="javascript:alert(1)"/>', /<animate> changes href/],
  ['<set attributeName="onclick" to="alert(1)"/>', /<set> changes onclick/],
  ['<animate attributeName="fill" values="url(/a#a)"/>', /values loads a file/],
  ['<set attributeName="mask"/><animate values="&quot;;url(/a#a);&quot;"/>', /values loads a file/],
  ['<animate attributeName="mask" values="/*;url(/a#a);*/url(#a)"/>', /values loads a file/],
  ['&unknown;', /entity|reference/i],
  ['<g>', /end tag|expected/i]
]

test('inline() refuses an SVG that could run a script or load another file, with the line', t => {
  for (const [inside, reason] of REFUSED) {
    const error = contentOrError(inside)
    if (typeof error === 'string') throw new Error(`${inside} became ${error}`)
    t.is(error.code, 'compile-failed', inside)
    t.regex(error.message, /^\/a\.svg:\d+:\d+: inline\(\) refuses the file: /, inside)
    t.regex(error.message, reason, inside)
    t.is(error.location.line, 2, inside)
  }
  const deep = Buffer.from(`<svg ${SVG}>${'<g>'.repeat(9000)}${'</g>'.repeat(9000)}</svg>`)
  const others = [deep, Buffer.from('<html/>'), Buffer.from([0xff]), Buffer.alloc(65 * 1024, ' ')]
  for (const bytes of others) t.throws(() => readSvg(bytes, '/a.svg'), { code: 'compile-failed' })
  t.throws(() => readSvg(Buffer.from(`<svg onload="a()" ${SVG}/>`), '/a.svg'), {
    message: /attribute onload/
  })
})

test('inline() leaves out what editors write for themselves, but no embedded pictures', t => {
  const inside =
    '<!-- a --><metadata><rdf:RDF/></metadata><sodipodi:namedview/><?x y?>' +
    '<g inkscape:label="1" xml:space="preserve"><image href="data:image/png;base64,AA=="/></g>'
  const ours = '<g xml:space="preserve"><image href="data:image/png;base64,AA=="></image></g>'
  const root = `${SVG} xmlns:sodipodi="s" xmlns:inkscape="i" xmlns:rdf="r"`
  t.is(contentOrError(inside, root), `\n ${ours}`)
})

test('inline() keeps what PlantUML, Batik, Mermaid, SVGator, draw.io and older exports write', t => {
  for (const inside of [
    '<g contentScriptType="a" contentStyleType="text/css" externalResourcesRequired="false"></g>',
    '<line name="Alice" class="actor-line"></line>',
    '<svg project-id="a" export-id="b" cached="false" host="65bd71144e" content="&lt;mxfile&gt;"></svg>',
    '<style media="screen">@-moz-keyframes a{} @-O-Keyframes a{}</style>',
    '<path style="fill:#f00 icc-color(CMYK, 0, 1, 1, 0)"></path>'
  ])
    t.is(contentOrError(inside), `\n ${inside}`)
})

test('text and attributes of an SVG never become tags in the page', t => {
  const text = fc.string({ unit: fc.constantFrom(...Array.from('<>&"\'/!-]a \n')) })
  const escaped = (given: string) =>
    given.replace(/[<>&"']/g, character => `&#${character.charCodeAt(0)};`)
  const property = fc.property(text, text, (label, content) => {
    const inside = `<text aria-label="${escaped(label)}">${escaped(content)}</text>`
    const written = contentOrError(inside)
    t.regex(String(written), /^\n <text aria-label="[^"<>]*">[^<>]*<\/text>$/)
  })
  t.notThrows(() => fc.assert(property, { numRuns: cases(200, 5000) }))
})

for (const mode of MODES) {
  test(`by default inline() writes each SVG of a folder icons that it does not refuse (${mode})`, async t => {
    const broken = `<svg ${SVG} width="2" height="1">\n <script/></svg>`
    const large = `<svg ${SVG}><desc>${'-'.repeat(70_000)}</desc></svg>`
    const files = {
      'images/icons/cart.svg': CART,
      'images/icons/bad.svg': broken,
      'images/icons/big.svg': large
    }
    const others = { 'logo.svg': CART, 'icons/lamp.svg': CART }
    const site = await makeFingerprinted(t, mode, { ...files, ...others }, {})
    for (const name of ['icons/cart.svg', 'icons/lamp.svg', 'lamp.svg'])
      t.is(await site.render(assets => assets.inline(name)), WRITTEN)
    t.regex(await site.render(assets => assets.image('icons/bad.svg')), / width="2" height="1"/)
    const told = {
      'icons/bad.svg': /^icons\/bad\.svg:2:2: inline\(\) refuses the file: it contains <script>$/,
      'icons/big.svg': /^icons\/big\.svg: inline\(\) refuses the file: it is larger than 64 KiB/,
      'logo.svg': /^inline\(\) cannot write 'logo\.svg'/
    }
    for (const [name, message] of Object.entries(told)) {
      const written = site.render(assets => assets.inline(name))
      await t.throwsAsync(written, { message }, name)
    }
    const none = await makeFingerprinted(t, mode, files, { inline: [] })
    const written = none.render(assets => assets.inline('icons/cart.svg'))
    await t.throwsAsync(written, { message: /^inline\(\) cannot write/ })
  })
}

const ENVIRONMENTS = {
  production: "remove 'fingerprint: false'",
  prod: "set NODE_ENV, or the option env, to one of development, test, production, or set 'fingerprint: true'"
}

test('where an environment has no fingerprints, the helper inline says what to set', async t => {
  const options = { env: 'production', fingerprint: false, inline: 'icons/**' } as const
  await t.throwsAsync(makeSite(t, {}, options), { message: /inline needs fingerprints/ })
  const routes: Middleware = (ctx, next) =>
    ctx.path === '/page' ? (ctx.body = ctx.assets.inline('icons/cart.svg')) : next()
  const site = { 'images/icons/cart.svg': CART, 'a.txt': '' }
  for (const [env, remedy] of Object.entries(ENVIRONMENTS)) {
    const { ask, errors } = await makeSite(t, site, { env, fingerprint: false, routes })
    const [, { status }] = [await ask('/page'), await ask('/assets/a.txt')]
    const told = `inline() cannot write 'icons/cart.svg' in the environment '${env}' without fingerprints: ${remedy}`
    t.deepEqual([status, errors[0]?.message], [404, told])
  }
})
