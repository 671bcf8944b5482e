// The order in which assets that refer to each other get their final bytes.

/**
 * Groups the nodes of a graph so that every group follows the groups it refers to. Nodes of one cycle
 * share a group (Tarjan's algorithm).
 */
export function groupsInOrder<T>(nodes: Iterable<T>, edges: (node: T) => readonly T[]): T[][] {
  const groups: T[][] = []
  // Infinity for those that have their group, as they are no way back.
  const indexes = new Map<T, number>()
  const open: T[] = []
  const visit = (node: T): number => {
    const index = indexes.size
    let lowest = index
    indexes.set(node, index)
    open.push(node)
    for (const next of edges(node)) lowest = Math.min(lowest, indexes.get(next) ?? visit(next))
    if (lowest === index) {
      const group = open.splice(open.lastIndexOf(node))
      for (const member of group) indexes.set(member, Infinity)
      groups.push(group)
    }
    return lowest
  }
  for (const node of nodes) if (!indexes.has(node)) visit(node)
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
