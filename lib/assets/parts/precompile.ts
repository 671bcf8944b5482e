// Parts of a precompile: what changes texts, and what takes the place of modules.
import type { AppSettings } from '../settings/app-settings.ts'

/** @typeParam Nodes the assets by path, links and drafts included, which are those of a room above this one */
export interface Combination<Nodes = unknown> {
  /** Whether a module is left as it is until then. */
  takes(app: AppSettings, source: { readonly group?: string | undefined }): boolean
  /** Changes the nodes. @throws AssetError for a module that cannot be read */
  combine(nodes: Nodes, mentions: readonly Mention[]): Promise<void>
  /** Rows of the report. */
  report(): object
}

/** What views name. */
export interface Mention {
  /** Undefined: it may be that of any app. */
  readonly app: string | undefined
  /** Of an asset, or a bare specifier that an inline script imports. */
  readonly name: string
  /** Whether an inline script imports it, as far as can be seen. */
  readonly isImported?: boolean
}

/** Before references get their URLs. */
export interface Transform {
  /** Whether the texts of an app are to get smaller, whatever makes them so. */
  minifies(app: AppSettings): boolean
  takes(app: AppSettings, name: string): boolean
  /** Undefined: it is published as it is. @throws CompileError for a source that is not valid */
  apply(text: TransformedText): Promise<{ readonly code: string; readonly map: string } | undefined>
  /** Rows of the report. */
  report(): Promise<object>
}

export interface TransformedText {
  readonly name: string
  /** Of the source; absolute. */
  readonly file: string
  readonly app: AppSettings
  /** With the source map that it came with, inline. */
  readonly code: string
  readonly isCompiled: boolean
}
