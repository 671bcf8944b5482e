// The order in which assets that refer to each other get their final bytes.

interface State {
  readonly index: number
  /** The lowest index that is reachable from the node, as far as the search has come. */
  low: number
  isOpen: boolean
}

interface Visit<T> {
  readonly node: T
  readonly state: State
  readonly next: Iterator<T>
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

/** Tarjan's algorithm without recursion: a chain of imports may have thousands of nodes. */
class Search<T> {
  readonly groups: T[][] = []
  readonly #edges: (node: T) => readonly T[]
  readonly #states = new Map<T, State>()
  /** Nodes that are in no group yet. */
  readonly #open: T[] = []
  readonly #visits: Visit<T>[] = []

  constructor(edges: (node: T) => readonly T[]) {
    this.#edges = edges
  }

  start(root: T): void {
    if (!this.#states.has(root)) this.#enter(root)
    for (let visit = this.#visits.at(-1); visit; visit = this.#visits.at(-1)) {
      const { done, value } = visit.next.next()
      if (done) this.#leave(visit)
      else this.#follow(visit, value)
    }
  }

  #enter(node: T): void {
    const state = { index: this.#states.size, low: this.#states.size, isOpen: true }
    this.#states.set(node, state)
    this.#open.push(node)
    this.#visits.push({ node, state, next: this.#edges(node).values() })
  }

  #follow({ state }: Visit<T>, to: T): void {
    const known = this.#states.get(to)
    if (!known) this.#enter(to)
    else if (known.isOpen) state.low = Math.min(state.low, known.index)
  }

  #leave({ node, state }: Visit<T>): void {
    this.#visits.pop()
    const from = this.#visits.at(-1)
    if (from) from.state.low = Math.min(from.state.low, state.low)
    if (state.low !== state.index) return
    const group = this.#open.splice(this.#open.lastIndexOf(node))
    for (const member of group) (this.#states.get(member) as State).isOpen = false
    this.groups.push(group)
  }
}
