// Sums and groups the items of a list.

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Works like `Map.groupBy`, which Node 20 lacks. An item whose key is undefined is left out. */
export function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string | undefined) {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
