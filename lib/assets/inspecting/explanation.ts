// What an explanation of a path consists of.

/** One step of the way from a path to an answer. */
export interface Step {
  readonly subject: 'settings' | 'path' | 'app' | 'name' | 'sources' | 'target' | 'helpers' | 'file'
  /** What this step finds. */
  readonly finding: string
  /** What it was found from, a line each. */
  readonly details: readonly string[]
}

export interface Explanation {
  /** The path that was explained, as a request would send it. */
  readonly path: string
  readonly steps: readonly Step[]
  /** What a request for it is answered with, in a sentence. */
  readonly outcome: string
  /** Whether that is a file. */
  readonly isFound: boolean
  /** The source, from the project's root. */
  readonly source?: string | undefined
  /** What the file in `public` is sent as; empty without one. */
  readonly forms: readonly Form[]
}

/** One form in which a file is sent. */
export interface Form {
  /** `identity`, or the name of a content coding. */
  readonly coding: string
  /** In bytes. */
  readonly size: number
  /** Of a 200. */
  readonly headers: Readonly<Record<string, string>>
}
