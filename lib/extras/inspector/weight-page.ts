// Shows what a page loads: a treemap by package and source, visits, and the same as tables.
import { publishingIn } from '../../publishing/building/on-request.ts'
import { formatBytes } from '../../publishing/cli/format.ts'
import { iconsIn } from '../media/inline.ts'
import { originOf, weigh, type Group, type Weighed, type Weight } from '../telling/weight.ts'
import { html, layout, table, type Html } from './page-html.ts'
import type { Survey } from './survey.ts'
import { treemap, type Area, type Placed } from './treemap.ts'

const MAX_NAMES = 500
const MAIN = /^(?:app|application|main|index)\.js$/
/** The picture is as wide as a screen: areas are squares there. */
const WHOLE: Area = { x: 0, y: 0, width: 200, height: 100 }
const TINTS = 6

export type WeightReport = Awaited<ReturnType<typeof weightOf>>

/** @param asked names with blanks between them; if empty, the main script */
export async function weightOf({ pipeline, places }: Survey, asked: string) {
  const own = [...places.values()].filter(({ source }) => source.packageName === undefined)
  const names = own.map(({ name }) => name).filter(name => /\.(?:css|m?js)$/.test(name))
  const main = names.find(name => MAIN.test(name)) ?? names.find(name => name.endsWith('.js'))
  const given = asked.split(/\s+/).filter(Boolean)
  const entries = given.length > 0 ? given : [main?.replace(/\.js$/, '') ?? names[0] ?? []].flat()
  const weight = await weigh(publishingIn(pipeline), entries)
  const icons = iconsIn(pipeline.running).map(({ path, size, times }) => ({ path, size, times }))
  return { asked: entries, names: names.slice(0, MAX_NAMES), weight, icons }
}

export function weightPage({ asked, names, weight, icons }: WeightReport): string {
  const text = asked.join(' ')
  return layout(
    'Weight',
    `weight?entry=${encodeURIComponent(text)}&json`,
    html`<form>
        <label for="entry"
          >Scripts and stylesheets of a page; <code>app</code> is both app.js and app.css</label
        >
        <input id="entry" name="entry" value="${text}" list="names" required />
        <datalist id="names">${names.map(name => html`<option>${name}</option>`)}</datalist>
        <button>Weigh</button>
      </form>
      ${weight && weight.entries.length > 0 ? shown(weight) : html`<p role="status">No script or stylesheet has such a name.</p>`}
      ${icons.length > 0 && iconsTable(icons)}`
  )
}

function shown(weight: Weight): Html {
  const { entries, files, groups, visits } = weight
  const whole = groups.reduce((sum, { size }) => sum + size, 0)
  const share = (size: number) => `${((100 * size) / whole).toFixed(1)} %`
  return html`<p class="note">
      ${entries.join(', ')}: ${originOf(weight)}; brotli, without headers, deltas, the page and its
      images
    </p>
    ${table('Visits', visits)} ${picture(groups, share)}
    ${table(
      'Packages',
      groups.map(({ path, size, parts }) => ({
        package: html`<span id="${idOf(path)}">${path}</span>`,
        size: formatBytes(size),
        share: share(size),
        sources: html`<details>
          <summary>${parts.length}</summary>
          <ul>
            ${parts.map(part => html`<li><code>${part.path}</code> ${formatBytes(part.size)}</li>`)}
          </ul>
        </details>`
      }))
    )}
    ${table(
      'Files, in the order of loading',
      files.map(({ path, size, isLater, isChanged }) => ({
        path,
        size: formatBytes(size),
        loaded: isLater ? 'by import()' : 'at once',
        lastDeploy: isChanged ? 'changed' : ''
      }))
    )}`
}

/** Icons are bytes of pages, so no other sum contains them. */
function iconsTable(icons: WeightReport['icons']): Html {
  const rows = icons.toSorted((one, other) => other.size * other.times - one.size * one.times)
  return html`<p class="note">
      Icons that inline() has written since the server started are a part of the HTML, before
      compression, and in no sum above.
    </p>
    ${table(
      'Icons in the HTML',
      rows.map(({ path, size, times }) => ({
        path,
        size: formatBytes(size),
        mostInOnePage: times,
        together: formatBytes(size * times)
      }))
    )}`
}

const idOf = (name: string) => `of-${name.replaceAll(/[^\w-]/g, '-')}`

/** Links lead to the rows of the table. */
function picture(groups: readonly Group[], share: (size: number) => string): Html {
  const tints = new Map(groups.map(({ path }, at) => [path, at % TINTS]))
  return html`<svg class="map" role="group" aria-label="Areas of packages and sources by size">
    ${treemap(groups, WHOLE).map(({ item: { path, size, parts }, ...area }) => {
      const [title, tint] = [`${path}, ${formatBytes(size)}, ${share(size)}`, tints.get(path)]
      const inner = { ...area, x: 0, y: 0 }
      const tiles = treemap(parts, inner)
      // The name of a link has to contain the text in it, so the names of parts follow the link.
      return html`<svg ${placed(area, WHOLE)}>
        <a href="#${idOf(path)}" aria-label="${title}" class="t${tint}">
          ${tiles.map(part => tile(part, inner))}
          <text x="6" y="18">${path}</text>
          <text x="6" y="36">${formatBytes(size)}</text>
        </a>
        ${parts.length > 1 ? tiles.map(part => nameOf(part, inner)) : ''}
      </svg>`
    })}
  </svg>`
}

function tile({ item, ...area }: Placed<Weighed>, whole: Area): Html {
  return html`<svg ${placed(area, whole)}>
    <rect width="100%" height="100%"><title>${item.path}, ${formatBytes(item.size)}</title></rect>
  </svg>`
}

function nameOf({ item, ...area }: Placed<Weighed>, whole: Area): Html {
  const name = item.path.slice(item.path.lastIndexOf('/') + 1)
  if (isNarrow(area)) {
    return html`<svg ${placed(area, whole)}>
      <text x="50%" y="8" class="part down">${name}</text>
    </svg>`
  }
  if (!isRoomy(area)) return html``
  return html`<svg ${placed(area, whole)}>
    <text x="6" y="100%" dy="-8" class="part">${name}</text>
  </svg>`
}

/** Below the name and the size of its group there is room for the name of a source. */
const isRoomy = ({ x, y, width, height }: Area) => width > 8 && height > (x + y === 0 ? 12 : 5)

/** A line of text fits only from the top to the bottom; beside the first one, which has the name of the group. */
const isNarrow = ({ x, y, width, height }: Area) =>
  x + y > 0 && width > 2 && width <= 8 && height > 20

/** Positions are in per cent, so that the text keeps its size when the picture is made narrow. */
function placed({ x, y, width: w, height: h }: Area, { width, height }: Area): Html {
  const percent = (length: number, of: number) => `${((100 * length) / of).toFixed(2)}%`
  const [left, top] = [percent(x, width), percent(y, height)]
  return html`x="${left}" y="${top}" width="${percent(w, width)}" height="${percent(h, height)}"`
}
