// The order in which assets that refer to each other get their final bytes.

interface Visit<T> {
  readonly node: T
  readonly next: Iterator<T>
  readonly index: number
  /** The lowest index that is reachable from the node, as far as the search has come. */
  low: number
}

/**
 * Groups the nodes of a graph so that every group follows the groups it refers to. Nodes of one cycle
 * share a group. Tarjan's algorithm without recursion: a chain of imports may have thousands of nodes.
 */
export function groupsInOrder<T>(nodes: Iterable<T>, edges: (node: T) => readonly T[]): T[][] {
  const groups: T[][] = []
  const visits = new Map<T, Visit<T>>()
  // Those that are in no group yet, and those from the root to the current one.
  const open: Visit<T>[] = []
  const stack: Visit<T>[] = []
  const enter = (node: T) => {
    const index = visits.size
    const visit = { node, next: edges(node).values(), index, low: index }
    visits.set(node, visit)
    open.push(visit)
    stack.push(visit)
  }
  const leave = (visit: Visit<T>) => {
    stack.pop()
    const from = stack.at(-1)
    if (from) from.low = Math.min(from.low, visit.low)
    if (visit.low !== visit.index) return
    const group = open.splice(open.lastIndexOf(visit))
    for (const member of group) member.low = Infinity
    groups.push(group.map(({ node }) => node))
  }
  for (const root of nodes) {
    if (!visits.has(root)) enter(root)
    for (let visit = stack.at(-1); visit; visit = stack.at(-1)) {
      const { done, value } = visit.next.next()
      const known = done ? undefined : visits.get(value)
      if (done) leave(visit)
      else if (!known) enter(value)
      // One that has its group already is no way back.
      else if (known.low !== Infinity) visit.low = Math.min(visit.low, known.index)
    }
  }
  return groups
}

/** A shortest way from a node of a cycle back to itself; the node is at both ends. */
export function cycleThrough<T>(start: T, edges: (node: T) => readonly T[]): T[] {
  const cameFrom = new Map<T, T>()
  const queue = [start]
  for (const node of queue) {
    for (const next of edges(node)) {
      if (cameFrom.has(next)) continue
      cameFrom.set(next, node)
      queue.push(next)
    }
    if (cameFrom.has(start)) break
  }
  const way = [start]
  for (let at = cameFrom.get(start); at !== undefined; at = cameFrom.get(at)) {
    way.unshift(at)
    if (at === start) break
  }
  return way
}
