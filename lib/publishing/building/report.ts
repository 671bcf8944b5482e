// Reports what a precompile has published, with the rows of extras.
import type { ManifestEntries } from '../../runtime/urls/manifest.ts'

export function reportOn(
  entries: ManifestEntries,
  before: ManifestEntries,
  isWritten = (_path: string) => false
) {
  const paths = [...entries.keys()].toSorted()
  const isChanged = (path: string) =>
    before.get(path)?.target !== entries.get(path)?.target || isWritten(path)
  const sized = Array.from(entries, ([path, { size }]) => ({ path, size }))
  return {
    assets: entries.size,
    bytes: sum(sized.map(({ size }) => size)),
    largest: sized.toSorted((a, b) => b.size - a.size).slice(0, 5),
    changes: {
      added: paths.filter(path => !before.has(path)),
      changed: paths.filter(path => before.has(path) && isChanged(path)),
      removed: [...before.keys()].filter(path => !entries.has(path)).toSorted()
    }
  }
}

/** Returns the rows that extras add to a report. */
export async function rowsOf<Rows>(
  reporting: readonly { report(): Promise<object> }[]
): Promise<Rows> {
  return Object.assign({}, ...(await Promise.all(reporting.map(each => each.report()))))
}

export function sum(numbers: Iterable<number>): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
