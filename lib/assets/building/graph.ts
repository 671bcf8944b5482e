// The order in which assets that refer to each other get their final bytes.

interface Visit<T> {
  readonly node: T
  readonly next: Iterator<T>
  readonly index: number
  /** The lowest index that is reachable from the node, as far as the search has come. */
  low: number
  /** Whether the node is in no group yet. */
  isOpen: boolean
}

/**
 * Groups the nodes of a graph so that every group follows the groups it refers to. Nodes of one cycle
 * share a group.
 */
export function groupsInOrder<T>(nodes: Iterable<T>, edges: (node: T) => readonly T[]): T[][] {
  const search = new Search(edges)
  for (const node of nodes) search.start(node)
  return search.groups
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

/** Tarjan's algorithm without recursion: a chain of imports may have thousands of nodes. */
class Search<T> {
  readonly groups: T[][] = []
  readonly #edges: (node: T) => readonly T[]
  readonly #visits = new Map<T, Visit<T>>()
  /** The visits whose nodes are in no group yet. */
  readonly #open: Visit<T>[] = []
  /** The visits from the root to the current node. */
  readonly #stack: Visit<T>[] = []

  constructor(edges: (node: T) => readonly T[]) {
    this.#edges = edges
  }

  start(root: T): void {
    if (!this.#visits.has(root)) this.#enter(root)
    for (let visit = this.#stack.at(-1); visit; visit = this.#stack.at(-1)) {
      const { done, value } = visit.next.next()
      if (done) this.#leave(visit)
      else this.#follow(visit, value)
    }
  }

  #enter(node: T): void {
    const index = this.#visits.size
    const visit = { node, next: this.#edges(node).values(), index, low: index, isOpen: true }
    this.#visits.set(node, visit)
    this.#open.push(visit)
    this.#stack.push(visit)
  }

  #follow(from: Visit<T>, to: T): void {
    const known = this.#visits.get(to)
    if (!known) this.#enter(to)
    else if (known.isOpen) from.low = Math.min(from.low, known.index)
  }

  #leave(visit: Visit<T>): void {
    this.#stack.pop()
    const from = this.#stack.at(-1)
    if (from) from.low = Math.min(from.low, visit.low)
    if (visit.low !== visit.index) return
    const group = this.#open.splice(this.#open.lastIndexOf(visit))
    for (const member of group) member.isOpen = false
    this.groups.push(group.map(({ node }) => node))
  }
}
