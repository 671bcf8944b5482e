// The files beside others in which extras keep further representations of them.
import type { Extra } from '../parts.ts'
import type { Representations, Writer } from '../parts/representations.ts'

export function representationsOf(extras: readonly Extra[]): Promise<readonly Representations[]> {
  return Promise.all(extras.flatMap(extra => extra.representations?.() ?? []))
}

/** What such a file represents, and whose it is; undefined for any other file. */
export function splitAmong<T extends Pick<Representations, 'split'>>(
  all: readonly T[],
  path: string
) {
  for (const by of all) {
    const parts = by.split(path)
    if (parts) return { ...parts, by }
  }
  return undefined
}

/** What extras say of a report, as texts with headings. */
export async function textsOf(extras: readonly Extra[], report: object) {
  return (await Promise.all(extras.flatMap(extra => extra.rows?.(report) ?? []))).flat()
}

/** The rows of a report. */
export async function rowsOf<Rows>(
  writers: readonly Pick<Writer<never>, 'report'>[]
): Promise<Rows> {
  return Object.assign({}, ...(await Promise.all(writers.map(writer => writer.report()))))
}
