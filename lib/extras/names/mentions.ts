// What views load: scripts by the helpers, and modules by their inline scripts.
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { bytesOf } from '../../files/disk.ts'
import type { Site } from '../../assets/parts.ts'
import type { Mention } from '../../assets/parts/precompile.ts'
import { appOfView, viewsIn } from './check-views.ts'
import { literalNames } from './literal-names.ts'

/** Where views usually are. */
const PLACES = ['views', 'templates', 'src/views', 'src/templates']
const USUAL = [...PLACES, ...PLACES.map(place => `apps/*/${place}`)].map(place => `${place}/**`)

const IMPORT = /\b(?:from|import)\s*\(?\s*(["'`])([^"'`\s]+)\1/g
/** In options, or in variables. */
const SCRIPT = /(["'`])([^"'`\s]+\.m?js)\1/g
const CONCURRENCY = 16

export async function mentionsIn({ root, apps, options }: Site): Promise<Mention[]> {
  const views = await viewsIn(root, options.views === undefined ? USUAL : [options.views].flat())
  const all = await inParallel(views, CONCURRENCY, async file => {
    const text = String((await bytesOf(join(root, file))) ?? '')
    const own = appOfView(apps, root, file)
    const named = literalNames(text).flatMap(({ app = own, helper, name }): Mention[] =>
      helper === undefined ? [] : [name, `${name}.js`].map(each => ({ app, name: each }))
    )
    const others = [IMPORT, SCRIPT].flatMap(pattern =>
      Array.from(text.matchAll(pattern), ([, , name = '']) => ({ app: own, name }))
    )
    return [...named, ...others]
  })
  return all.flat()
}
