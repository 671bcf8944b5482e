// Declares how an extra changes texts: a transform of one text, or a bundler that joins modules.
import type { AppSettings } from '../settings/settings.ts'

/** @typeParam Nodes the assets by path, links and drafts included, which are those of a room above this one */
export interface Bundler<Nodes = unknown> {
  /** Tells whether it resolves the imports of an app's modules, which are left unchanged until then. */
  takes?(app: AppSettings): boolean
  /** Joins modules by changing the nodes. @returns warnings @throws AssetError for what cannot be joined */
  join(nodes: Nodes, mentions: readonly Mention[]): Promise<readonly string[]>
  report(): object
}

export interface Mention {
  /** The app to which the name belongs; undefined if it may be any app. */
  readonly app: string | undefined
  /** The name of an asset, or a bare specifier that an inline script imports. */
  readonly name: string
  /** True if an inline script imports it, as far as can be seen. */
  readonly isImported?: boolean
}

/** A transform omits members for what it does not do. */
export interface Transform {
  minifies?(app: AppSettings): boolean
  takes?(app: AppSettings, name: string): boolean
  /** Returns the browsers whose syntax an app's texts get, by esbuild's names; undefined if any syntax will do. */
  targetOf?(app: AppSettings): readonly string[] | undefined
  /** Transforms a text; undefined if it is published unchanged. @throws CompileError for a source that is not valid */
  apply?(text: TransformedText): Promise<Transformed | undefined>
  /** Changes the compiled code of a script before its constants are replaced; undefined if it stays unchanged. */
  instrument?(code: string, file: string, isMapped: boolean): Promise<Transformed | undefined>
  report?(): Promise<object>
}

export interface Transformed {
  readonly code: string
  /** The absolute paths of files that decided how it was transformed, existing or not. */
  readonly looked?: readonly string[]
  /** The source map as JSON; undefined if it is inline or there is none. */
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
  /** True if the code must end with an inline source map. */
  readonly isMapped?: boolean
}
