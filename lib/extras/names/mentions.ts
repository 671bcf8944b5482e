// Finds what views load: scripts and stylesheets by the helpers, and modules by their inline scripts.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { bytesOf } from '../../runtime/files/disk.ts'
import type { Mention, Project } from '../../runtime/app/parts.ts'
import { withoutBase } from '../../runtime/urls/spelling.ts'
import { appOfView, viewsIn } from './check-views.ts'
import { literalNames } from './literal-names.ts'

/** Views are usually in one of these folders. */
const PLACES = ['views', 'templates', 'src/views', 'src/templates']
const USUAL = [...PLACES, `apps/*/{${PLACES.join(',')}}`].map(place => `${place}/**`)

const IMPORT = /\b(?:from|import)\s*\(?\s*(["'`])([^"'`\s]+)\1/g
/** Names of scripts and stylesheets may be in options, or in variables. */
const FILE = /(["'`])([^"'`\s]+\.(?:m?js|css))\1/g
/** Other code of a template imports nothing for a browser. */
const INLINE = /<script\b[^>]*>([^]*?)<\/script/gi
const IS_SCRIPT = /\.[cm]?[jt]sx?$/i
const CONCURRENCY = 16

export async function mentionsIn(project: Project): Promise<Mention[]> {
  const { root, apps, base, options } = project
  const views = await viewsIn(project, options.views === undefined ? USUAL : [options.views].flat())
  const all = await inParallel(views, CONCURRENCY, async file => {
    const text = String((await bytesOf(join(root, file))) ?? '')
    const own = appOfView(apps, root, file)
    const named = literalNames(text).flatMap(({ app = own, helper, name }): Mention[] =>
      helper === undefined
        ? []
        : [name, `${name}.js`, `${name}.css`].map(each => ({ app, name: each }))
    )
    const foundIn = (code: string, pattern: RegExp) =>
      Array.from(code.matchAll(pattern), ([, , name = '']): Mention => ({
        app: own,
        name: withoutBase(name, base)
      }))
    const others = [IMPORT, FILE].flatMap(pattern => foundIn(text, pattern))
    const inline = Array.from(text.matchAll(INLINE), ([, code = '']) => code)
    // Pug has no end tags; a partial may be what is in a script.
    const isWhole = IS_SCRIPT.test(file) || inline.length === 0
    const imported = foundIn(isWhole ? text : inline.join('\n'), IMPORT)
    return [...named, ...others, ...imported.map(each => ({ ...each, isImported: true }))]
  })
  return all.flat()
}
