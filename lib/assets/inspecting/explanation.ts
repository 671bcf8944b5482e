// The result of `explain`.

export interface Explanation {
  /** The explained path, as a request would send it. */
  readonly path: string
  readonly steps: readonly Step[]
  /** The response to a request for the path, in one sentence. */
  readonly outcome: string
  /** Whether the response is a file. */
  readonly isFound: boolean
  /** The source, relative to the project root. */
  readonly source?: string | undefined
  /** The representations of the file; empty without a file. */
  readonly representations: readonly ExplainedRepresentation[]
}

/** One step from the path to the response. */
export interface Step {
  readonly subject:
    'settings' | 'path' | 'mounts' | 'app' | 'name' | 'sources' | 'target' | 'helpers' | 'file'
  readonly finding: string
  /** The facts behind the finding, one per line. */
  readonly details: readonly string[]
}

export interface ExplainedRepresentation {
  /** `identity`, or the name of a content coding. */
  readonly coding: string
  /** In bytes. */
  readonly size: number
  /** Of a 200 response. */
  readonly headers: Readonly<Record<string, string>>
}

export function step(subject: Step['subject'], finding: string, details: string[] = []): Step {
  return { subject, finding, details }
}
