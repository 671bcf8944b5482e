// A project whose pages below -/ are looked at.
import type { PageOfAssets } from '../../../lib/extras/inspector/lists.ts'
import { makeSite, until, type ExecutionContext, type Files } from '../../support/index.ts'
import type { Site, SiteOptions } from '../../support/index.ts'

export const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3])

export const FILES: Files = {
  'css/app.css.scss':
    "@use 'colors';\n.a { background: url('a.png') }\n.b { background: url('none.png') }",
  'css/_colors.scss': 'a { color: red }',
  'css/admin/menu.css': '@import "app.css";',
  'css/user/menu.css': 'a {}',
  'css/broken.css.scss': 'a {\n  color: ;;{\n}',
  'js/twice.js': '1',
  'lib/twice.js': '2',
  'img/a.png': PNG,
  '/more/css/admin/menu.css': 'b {}'
}

export const makeInspected = (t: ExecutionContext, files = FILES, options: SiteOptions = {}) =>
  makeSite(t, files, {
    missing: 'warn',
    ...(files['/more/css/admin/menu.css'] && { sources: '../../more' }),
    ...options
  })

export async function json<T>(site: Site, path: string): Promise<T> {
  const { text } = await site.ask(`/assets/-/${path}`)
  return JSON.parse(text) as T
}

export async function listOf(site: Site): Promise<PageOfAssets> {
  // A page without a row looks at nothing by itself.
  const isWhole = async () => {
    const { surveyed, total } = await json<PageOfAssets>(site, '?json&q=nothing')
    return surveyed === total
  }
  await until(isWhole, 'the survey is complete')
  return json(site, '?json')
}
