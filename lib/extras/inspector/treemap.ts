// Lays out treemaps: areas in proportion to sizes. The rest is halved across its longer side, so that no area is too
// thin.

export interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

type Sized = { readonly size: number }
export type Placed<T> = Area & { readonly item: T }

const sum = (items: readonly Sized[]) => items.reduce((total, { size }) => total + size, 0)

/** @param items are sorted, the largest first; those without a size get no area */
export function treemap<T extends Sized>(items: readonly T[], area: Area): Placed<T>[] {
  const sized = items.filter(({ size }) => size > 0)
  const [item, ...others] = sized
  if (!item || others.length === 0) return item ? [{ ...area, item }] : []
  const whole = sum(sized)
  let count = 1
  while (count < others.length && sum(sized.slice(0, count + 1)) <= whole / 2) count++
  const share = sum(sized.slice(0, count)) / whole
  const { x, y, width, height } = area
  const [one, other] =
    width >= height
      ? [{ width: width * share }, { x: x + width * share, width: width * (1 - share) }]
      : [{ height: height * share }, { y: y + height * share, height: height * (1 - share) }]
  const [left, right] = [sized.slice(0, count), sized.slice(count)]
  return [...treemap(left, { ...area, ...one }), ...treemap(right, { ...area, ...other })]
}
