// Declares how an extra changes texts: a transform of single ones, or a bundler that joins modules.
import type { AppSettings } from '../settings/settings.ts'

/** @typeParam Nodes the assets by path, links and drafts included, which are those of a room above this one */
export interface Bundler<Nodes = unknown> {
  /** Tells whether it resolves the imports of an app's modules, which are left as they are until then. */
  takes?(app: AppSettings): boolean
  /** Joins modules by changing the nodes. @returns warnings @throws AssetError for what cannot be joined */
  join(nodes: Nodes, mentions: readonly Mention[]): Promise<readonly string[]>
  report(): object
}

export interface Mention {
  /** The app whose name it is; if it is undefined, any app may be meant. */
  readonly app: string | undefined
  /** The name of an asset, or a bare specifier that an inline script imports. */
  readonly name: string
  /** True if an inline script imports it, as far as can be seen. */
  readonly isImported?: boolean
}

/** A transform has no member for what it does not do. */
export interface Transform {
  minifies?(app: AppSettings): boolean
  takes?(app: AppSettings, name: string): boolean
  /** Returns the browsers whose syntax the texts of an app get, by esbuild's names; if it is undefined, any syntax will do. */
  targetOf?(app: AppSettings): readonly string[] | undefined
  /** Transforms a text; undefined: it is published as it is. @throws CompileError for a source that is not valid */
  apply?(text: TransformedText): Promise<Transformed | undefined>
  /** Changes what a compiler made of a script, before its constants have values; undefined: it stays. */
  instrument?(code: string, file: string, isMapped: boolean): Promise<Transformed | undefined>
  report?(): Promise<object>
}

export interface Transformed {
  readonly code: string
  /** The absolute paths of files that decided how it was transformed, there or not. */
  readonly looked?: readonly string[]
  /** The source map as JSON; undefined for one that is in the code, or none. */
  readonly map?: string
  readonly warnings?: readonly string[]
}

export interface TransformedText {
  readonly name: string
  readonly file: string
  readonly app: AppSettings
  /** The text, with its own source map inline. */
  readonly code: string
  readonly isCompiled: boolean
  /** The browsers whose syntax the text has already. */
  readonly target?: readonly string[] | undefined
  /** True if the code is to end with an inline source map. */
  readonly isMapped?: boolean
}
