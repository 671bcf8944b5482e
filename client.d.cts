/** What scripts for browsers know: `"types": ["koa-fresh-assets/client"]` in their tsconfig.json. The names are Vite's. */
interface ImportMetaEnv {
  /** The name of the environment, the option `env`. */
  MODE: string
  DEV: boolean
  PROD: boolean
  SSR: boolean
  /** The option `base`, with a slash at its end. */
  BASE_URL: string
}

/** Replaces the module in pages with `ctx.assets.live()`, when it or what it imports is edited. */
interface HotModule {
  /** Passed from a version of the module to the next one. */
  readonly data: any
  /** Is called with the next version of the module; undefined if that has failed. */
  accept(callback?: (next: any) => void): void
  /** Takes the edits of an import, and of what that imports. */
  accept(dependency: string, callback: (next: any) => void): void
  accept(dependencies: readonly string[], callback: (next: any[]) => void): void
  /** Is called before the next version runs. */
  dispose(callback: (data: any) => void): void
  /** Is called when nothing imports the module any more. */
  prune(callback: (data: any) => void): void
  /** Passes the edit on to the importers of the module. */
  invalidate(message?: string): void
  /** The events are `beforeUpdate`, `afterUpdate`, `beforePrune`, `beforeFullReload`, `invalidate` and `error`, also with `vite:` in front. */
  on(event: string, callback: (payload: any) => void): void
  off(event: string, callback: (payload: any) => void): void
}

/** A base, since Vite's own types may declare these members as well. */
interface HotImportMeta {
  /** It is undefined in production, and without a live page. */
  readonly hot?: HotModule
}

interface ImportMeta extends HotImportMeta {
  readonly env: ImportMetaEnv
}
