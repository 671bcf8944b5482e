// The order in which files that refer to each other get their final bytes.

/**
 * Groups the nodes of a graph so that every group comes after the groups it leads to; nodes that
 * lead to each other share a group. Tarjan's algorithm, with a stack of its own: a chain of
 * thousands of imports is no recursion.
 */
export function groupsInOrder<T>(nodes: Iterable<T>, leadsTo: (node: T) => readonly T[]): T[][] {
  const states = new Map<T, { index: number; low: number; open: boolean }>()
  const groups: T[][] = []
  const path: T[] = []

  const enter = (node: T) => {
    const state = { index: states.size, low: states.size, open: true }
    states.set(node, state)
    path.push(node)
    return { node, state, next: leadsTo(node).values() }
  }

  for (const root of nodes) {
    if (states.has(root)) continue
    const visits = [enter(root)]
    for (let state = visits.at(-1); state; state = visits.at(-1)) {
      const { done, value } = state.next.next()
      if (!done) {
        const seen = states.get(value)
        if (!seen) visits.push(enter(value))
        else if (seen.open) state.state.low = Math.min(state.state.low, seen.index)
        continue
      }
      visits.pop()
      const above = visits.at(-1)
      if (above) above.state.low = Math.min(above.state.low, state.state.low)
      if (state.state.low === state.state.index) groups.push(close(state.node))
    }
  }

  function close(node: T): T[] {
    const group = path.splice(path.lastIndexOf(node))
    for (const member of group) {
      const state = states.get(member)
      if (state) state.open = false
    }
    return group
  }

  return groups
}
