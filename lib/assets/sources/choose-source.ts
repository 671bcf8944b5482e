// Chooses one of the sources that a name may refer to.
import type { Source } from './catalog.ts'

/** What one source directory has for a name. */
export interface Candidates {
  /** Absolute. */
  readonly directory: string
  /** Sources that have exactly this name. */
  readonly named: readonly Source[]
  /** Sources that have it as a tail of their path. */
  readonly tailed: readonly Source[]
  /** Compiled sources that a plain file of the same name hides. */
  readonly hidden: readonly Source[]
}

interface Choice {
  readonly source: Source | undefined
  /** Set when the directory has more than one candidate. */
  readonly warning?: string
}

/** A name comes before a tail, and an earlier directory before a later one. */
export function choose(name: string, all: readonly Candidates[]): Choice {
  const named = all.find(candidates => candidates.named.length > 0)
  if (named) return chooseNamed(name, named)
  const tailed = all.find(candidates => candidates.tailed.length > 0)
  return tailed ? chooseTailed(name, tailed) : { source: undefined }
}

function chooseNamed(name: string, { directory, named, hidden }: Candidates): Choice {
  const [source, ...others] = [...named, ...hidden]
  if (!source || others.length === 0) return { source }
  const ignored = others.map(({ path }) => path).join(', ')
  const warning = `several sources in ${directory} are published as ${name}: ${source.path} is used, ${ignored} ignored; rename all but one`
  return { source, warning }
}

/** A tail that several files of one directory have is ambiguous, and finds none of them. */
function chooseTailed(name: string, { directory, tailed }: Candidates): Choice {
  const [source, ...others] = tailed
  if (others.length === 0) return { source }
  const tails = tailed.map(({ tail }) => tail).join(', ')
  return { source: undefined, warning: `${name} is ambiguous in ${directory}: use one of ${tails}` }
}
