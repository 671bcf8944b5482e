// docs/recipes.md, "A font without a jump": text stays in its place when the font comes.
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf } from '../support/examples.ts'
import { makeProject, placed, test, writeFiles } from '../support/index.ts'
import { folderOf } from './installed.ts'
import { visit } from './page.ts'

const FONT = 'npm/@fontsource/inter/files/inter-latin-400-normal.woff2'
const TEXT = 'Every line of this paragraph stays where it is when the font has come.'
const VIEW = `<h1>${TEXT}</h1><p>${TEXT}</p><footer>below</footer>`
/** The ascent and descent of Inter, by its size. */
const [ASCENT, DESCENT] = [0.968_75, 0.2412]

/** The sum of layout shifts, once the font is there. */
const SHIFTED = `(async () => {
  let shifted = 0
  new PerformanceObserver(list => {
    for (const { value } of list.getEntries()) shifted += value
  }).observe({ type: 'layout-shift', buffered: true })
  await document.fonts.ready
  const isThere = [...document.fonts].some(({ family, status }) => family === 'Inter' && status === 'loaded')
  await new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 100))))
  return [isThere, shifted]
})()`

const TELLING = `<script>new PerformanceObserver(list => {
  if (list.getEntriesByName('first-contentful-paint').length > 0) void fetch('/painted')
}).observe({ type: 'paint', buffered: true })</script>`

const WIDTHS = `(async () => {
  await document.fonts.load('100px Inter')
  const context = document.createElement('canvas').getContext('2d')
  return ['Inter', 'DejaVu Sans'].map(family => {
    context.font = '100px "' + family + '"'
    return context.measureText('${TEXT}').width
  })
})()`

test('a fallback with the metrics of the recipe keeps a page from shifting when its font arrives', async t => {
  const root = makeProject(t)
  mkdirSync(join(root, 'node_modules/@fontsource'), { recursive: true })
  symlinkSync(folderOf('@fontsource/inter'), join(root, 'node_modules/@fontsource/inter'))
  const blocks = blocksOf(readFileSync('docs/recipes.md', 'utf8'))
  const recipe = blocks.find(({ file }) => file?.endsWith('fonts.css'))?.text ?? ''
  t.regex(recipe, /size-adjust/)
  const make = async (css: string) => {
    writeFiles(root, placed({ 'stylesheets/fonts.css': css }))
    let tell = () => {}
    const painted = new Promise<void>(resolve => (tell = resolve))
    return visit(t, {
      root,
      packages: { '@fontsource/inter': ['latin-400.css'] },
      // The page is painted with the other font first.
      front: async (ctx, next) => {
        if (ctx.path === '/painted') tell()
        if (ctx.path.endsWith('.woff2')) await painted
        return next()
      },
      view: ({ assets }) =>
        assets.stylesheet('npm/@fontsource/inter/latin-400.css', 'fonts') + VIEW + TELLING
    })
  }
  // This machine has DejaVu Sans instead of Arial, which is wider.
  const plain = await make("body { font-family: Inter, 'DejaVu Sans' }")
  const [isThere, shifted] = await plain.page.evaluate<[boolean, number]>(SHIFTED)
  t.true(isThere)
  t.true(shifted > 0)
  const [inter = 1, other = 1] = await plain.page.evaluate<number[]>(WIDTHS)
  const percent = (part: number) => `${((part * 100 * other) / inter).toFixed(2)}%`
  const ours = recipe
    .replace('Arial', 'DejaVu Sans')
    .replace('107.12%', `${((inter / other) * 100).toFixed(2)}%`)
    .replace('90.44%', percent(ASCENT))
    .replace('22.52%', percent(DESCENT))
  const { page, paths } = await make(ours)
  t.deepEqual(await page.evaluate(SHIFTED), [true, 0])
  t.true(paths.includes(`/assets/${FONT}`))
  // The figures of the recipe are those of the font, by the same rule.
  t.is((ASCENT / 1.0712).toFixed(4), '0.9044')
  t.is((DESCENT / 1.0712).toFixed(4), '0.2252')
})
