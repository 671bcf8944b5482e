// View helpers in a template engine that escapes what it writes.
import { test } from '../support/test.ts'
import nunjucks from 'nunjucks'
import { makeHelpers } from '../runtime/views/view-helpers-site.ts'

const assets = makeHelpers()('web')
const PAGE =
  '<link href="/assets/main.css" type="text/css" rel="stylesheet">\n' +
  '<script src="/assets/a.js" type="text/javascript" defer="defer"></script>\n' +
  '<script src="/assets/b.js" type="text/javascript" defer="defer"></script>\n' +
  '<a href="/assets/admin/a.pdf">v7</a>'

test('nunjucks, with an object or with keyword arguments', t => {
  const environment = new nunjucks.Environment(null, { autoescape: true })
  for (const attributes of ['{ defer: true }', 'defer=true']) {
    const view =
      "{{ assets.stylesheet('main') | safe }}\n" +
      `{{ assets.javascript('a', 'b', ${attributes}) | safe }}\n` +
      `<a href="{{ assets.app('admin').path('a.pdf') }}">{{ assets.version }}</a>`
    t.is(environment.renderString(view, { assets }), PAGE)
  }
})
