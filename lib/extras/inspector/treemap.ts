// Squarified treemaps (Bruls, Huizing and van Wijk, 2000): areas in proportion to sizes, each close to a square.

export interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** @param items those without a size get no area */
export function treemap<T extends { readonly size: number }>(
  items: readonly T[],
  area: Area
): (Area & { readonly item: T })[] {
  const rest = items.filter(({ size }) => size > 0).toSorted((a, b) => b.size - a.size)
  const scale = (area.width * area.height) / rest.reduce((sum, { size }) => sum + size, 0)
  const placed: (Area & { item: T })[] = []
  let { x, y, width, height } = area
  while (rest.length > 0) {
    const side = Math.min(width, height)
    const row = rowOf(rest, scale, side)
    const depth = row.reduce((sum, { size }) => sum + size * scale, 0) / side
    const isColumn = width >= height
    let at = 0
    for (const item of rest.splice(0, row.length)) {
      const length = (item.size * scale) / depth
      placed.push(
        isColumn
          ? { item, x, y: y + at, width: depth, height: length }
          : { item, x: x + at, y, width: length, height: depth }
      )
      at += length
    }
    if (isColumn) [x, width] = [x + depth, width - depth]
    else [y, height] = [y + depth, height - depth]
  }
  return placed
}

/** As many of the first ones as make the longest of them less long. */
function rowOf<T extends { readonly size: number }>(
  sorted: readonly T[],
  scale: number,
  side: number
) {
  let [total, worst, count] = [0, Infinity, 0]
  const largest = (sorted[0]?.size ?? 0) * scale
  for (const { size } of sorted) {
    const next = total + size * scale
    const ratio = Math.max(
      (side ** 2 * largest) / next ** 2,
      next ** 2 / (side ** 2 * size * scale)
    )
    if (ratio > worst) break
    ;[total, worst, count] = [next, ratio, count + 1]
  }
  return sorted.slice(0, count)
}
