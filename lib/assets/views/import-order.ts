// Walks the imports of modules.

/** Everything that the nodes lead to and themselves, each once, what a node imports before the node. */
export function importOrder<Node>(
  starts: Iterable<Node>,
  importsOf: (node: Node) => Iterable<Node>
): Set<Node> {
  const seen = new Set<Node>()
  const ordered = new Set<Node>()
  for (const start of starts) {
    if (seen.has(start)) continue
    seen.add(start)
    // A stack of its own: a chain of imports may be longer than the call stack.
    const stack = [{ node: start, imports: importsOf(start)[Symbol.iterator]() }]
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const { done, value } = top.imports.next()
      if (done) {
        ordered.add(top.node)
        stack.pop()
      } else if (!seen.has(value)) {
        seen.add(value)
        stack.push({ node: value, imports: importsOf(value)[Symbol.iterator]() })
      }
    }
  }
  return ordered
}
