// Declares what a server that compiles loads from publishing: the only way from the runtime to sources.
import type { Target } from '../settings/public-directory.ts'
import type { AppSettings } from '../settings/settings.ts'
import type { Details, Names } from '../urls/manifest.ts'
import type { KnownImports, PageDependency } from './extra.ts'

/** Brings files up to date with their sources before a request or a page gets them. */
export interface OnRequest {
  /** Brings a file up to date, and resolves to its target if that saves a stat. @throws AssetError for a broken source */
  publish(app: AppSettings, name: string): Promise<Target | undefined>
  /** `names` are those of apps with fingerprints, which are current unless events have reported a source. */
  readonly rebuilt: { readonly names: Names; readonly isCurrent: boolean }
  /** Pages wait for these: new sources, packages, builds. */
  readonly dependencies: readonly PageDependency[]
  /** Returns the name if it has a source, else the name without its fingerprint; undefined if neither has one. */
  sourced(app: AppSettings, name: string): Promise<string | undefined>
  /** Finds a plain name or a tail among the sources as last listed, since helpers cannot wait. */
  chosen(app: AppSettings, name: string): Chosen | undefined
  /** Returns the imports that pages with plain names need to know; undefined for an app that has none. */
  imports(app: AppSettings): (() => readonly KnownImports[]) | undefined
  /** Warns later of a name without a source. @param whose the referrer: `a page links to` */
  checkName(app: AppSettings, name: string, whose?: string): void
  /** Warns of a page that contains the URL of a tail: only references in published texts are replaced. */
  reportTail(app: AppSettings, name: string): void
}

export interface Chosen {
  readonly name: string
  readonly readDetails: (() => Details) | undefined
}
