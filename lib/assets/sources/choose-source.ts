// Which of the sources that bear a name is taken.
import type { Source } from './catalog.ts'

/** What one source directory has for a name. */
export interface Candidates {
  /** Absolute. */
  readonly directory: string
  /** Bear the very name. */
  readonly named: readonly Source[]
  /** Bear it as a tail of their path. */
  readonly tailed: readonly Source[]
}

export interface Choice {
  readonly source: Source | undefined
  /** What a person should know about it. */
  readonly warning?: string
}

/** The very name comes before any tail, and an earlier directory before a later one. */
export function choose(name: string, all: readonly Candidates[]): Choice {
  const named = all.find(candidates => candidates.named.length > 0)
  if (named) return chooseNamed(name, named)
  const tailed = all.find(candidates => candidates.tailed.length > 0)
  return tailed ? chooseTailed(name, tailed) : { source: undefined }
}

function chooseNamed(name: string, { directory, named }: Candidates): Choice {
  const [source, ...others] = named
  if (!source || others.length === 0) return { source }
  const losers = others.map(other => other.path).join(', ')
  const warning = `${name} is ${source.path} in ${directory}; ${losers} of that name is not reachable`
  return { source, warning }
}

/** A tail that several files of one directory bear finds none: nobody could say which one is meant. */
function chooseTailed(name: string, { directory, tailed }: Candidates): Choice {
  const [source, ...others] = tailed
  if (others.length === 0) return { source }
  const paths = tailed.map(candidate => candidate.tail).join(', ')
  return {
    source: undefined,
    warning: `${name} is ambiguous in ${directory}: ask for one of ${paths}`
  }
}
