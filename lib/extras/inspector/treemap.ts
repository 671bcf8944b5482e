// Treemaps: areas in proportion to sizes. What is left is halved across its longer side, so that none is too thin.

export interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

type Sized = { readonly size: number }
type Placed<T> = Area & { readonly item: T }

const sum = (items: readonly Sized[]) => items.reduce((total, { size }) => total + size, 0)

/** @param items those without a size get no area */
export function treemap<T extends Sized>(items: readonly T[], area: Area): Placed<T>[] {
  return halved(
    items.filter(({ size }) => size > 0).toSorted((a, b) => b.size - a.size),
    area
  )
}

function halved<T extends Sized>(sorted: readonly T[], area: Area): Placed<T>[] {
  const [item, ...others] = sorted
  if (!item || others.length === 0) return item ? [{ ...area, item }] : []
  const whole = sum(sorted)
  let count = 1
  while (count < others.length && sum(sorted.slice(0, count + 1)) <= whole / 2) count++
  const share = sum(sorted.slice(0, count)) / whole
  const { x, y, width, height } = area
  const [one, other] =
    width >= height
      ? [{ width: width * share }, { x: x + width * share, width: width * (1 - share) }]
      : [{ height: height * share }, { y: y + height * share, height: height * (1 - share) }]
  return [
    ...halved(sorted.slice(0, count), { ...area, ...one }),
    ...halved(sorted.slice(count), { ...area, ...other })
  ]
}
