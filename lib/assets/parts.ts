// What an extra can be made of: the core reaches extras in no other way. A part is here because an extra uses it.
import type { Context } from 'koa'
import type { Representations, Sender } from './parts/representations.ts'
import type { Combination, Mention, Transform } from './parts/precompile.ts'
import type { PrecompileExtras } from './settings/extra-options.ts'
import type { KoaAssetsOptions } from './settings/options.ts'
import type { AppSettings, MountSettings, Settings } from './settings/settings.ts'
import type { AssetAddress, Helpers, LoadedUrl } from './views/asset-url.ts'

/** The settings, and the extras that they ask for. */
export interface Site extends Settings {
  /** As they were given. */
  readonly options: KoaAssetsOptions
  readonly extras: readonly Extra[]
  /** With some options in place of the given ones, or as `precompile` has them. @throws as `koaAssets` */
  readonly changed: (options: KoaAssetsOptions, isPrecompile?: boolean) => Site
}

/**
 * One folder of lib/extras, as its line in extras.ts tells it to the core.
 * @typeParam Whole `Pipeline`, which is made of rooms above this one
 */
export interface Extra<Whole = unknown> {
  /** That of its folder. */
  readonly name: string
  /** What makes more sources for apps. Undefined: no app has any. */
  sources?(site: Site): Promise<MakeSources | undefined>
  /** How it could publish what a bare specifier means, for messages; undefined where it cannot tell. */
  advise?(app: AppSettings, specifier: string, site: Site): Promise<string | undefined>
  /**
   * What it does for requests and pages; undefined where no option asks for it.
   * @throws AssetError for what is needed and cannot be used: no server starts
   */
  run?(site: Site, warn: Warn): Running | undefined
  /** Pages for developers below `<prefix>/-/`, made with the first request for one. */
  pages?(pipeline: Whole): Promise<Pages>
  /** Keeps the index of what was published on request; asked where an app publishes so. */
  keepIndex?(pipeline: Whole): Promise<IndexKeeper | undefined>
  /** Members of Koa's `ctx`. Each middleware provides its own. */
  methods?(pipeline: Whole): Provide
  /** What is doubtful about the options, said when a server starts. */
  notices?(site: Site): readonly string[]
  /** Begins what it does beside a server in development. */
  start?(pipeline: Whole): Promise<void>
  /** Commands of the command line. */
  commands?(): Promise<readonly Command[]>
  /** What it adds to commands of others. */
  additions?(): Promise<readonly Addition[]>
  /**
   * What changes stylesheets and scripts of a precompile; undefined where no app wants it.
   * @throws AssetError for what an app asks for and is not there
   */
  transform?(site: Site, asked: PrecompileExtras, warn: Warn): Promise<Transform | undefined>
  /** Problems for `verify`, and for the warnings of `precompile`; undefined where the options ask for no check. */
  check?(site: Site): Promise<Check | undefined>
  /** Made when a server starts, for all files that it sends; undefined where the settings do not want it. */
  sender?(settings: Settings): Sender | undefined
  /** What is read from files when they are published, for their manifest and for pages. */
  readonly measuring?: Measuring
  /** Puts other scripts in the place of modules of a precompile; undefined where no option asks for it. */
  combination?(
    site: Site,
    /** Those of all apps, which belong to a room above this one. */
    sources: unknown,
    isMinified: (app: AppSettings) => boolean
  ): Promise<Combination | undefined>
  /** The names that views load, as far as they are known. */
  mentions?(site: Site): Promise<readonly Mention[]>
  /** What its rows of a report say, as texts with headings. */
  rows?(report: object): Promise<readonly (readonly [heading: string, text: string])[]>
  /** Further representations of files, kept in files beside them: what deploys writes, checks and removes these. */
  representations?(): Promise<Representations>
}

type Warn = (message: string) => void

export interface IndexKeeper {
  /** Reads what an earlier process kept, the first time that it is called. */
  restored(): Promise<void>
  /** Called for each new entry. */
  saveSoon(): void
}

/** @param hasNames whether `ctx.assets` will be that of this middleware, and not of one in front */
type Provide = (ctx: Context, hasNames: boolean) => void

/** A file that is not as it should be. */
export interface Problem {
  /** The URL path of the file, `/assets/app-<32 hex>.css.br`; in a directory, its path there. */
  readonly path: string
  /** What is wrong, to be read after the path: `is missing`. */
  readonly message: string
}

export interface Measuring {
  /** Whether files of that name are measured; a name without a query. */
  isFor(name: string): boolean
  /** Called with the first of them. */
  load(): Promise<Measure>
}

/** By names of the extra. */
export type Measures = Readonly<Record<string, number>>

/** Undefined for bytes of which there is nothing to tell. @param bytes those of a file, or its beginning */
export type Measure = (bytes: Uint8Array) => Measures | undefined

export interface Check {
  readonly problems: readonly Problem[]
  /** What was checked, for the end of the report: `12 names in 3 views`. */
  readonly total: string
  /** For the report as JSON. */
  readonly report: object
  /** What else is doubtful: warnings of `precompile` and `verify`. */
  readonly doubts: readonly string[]
}

/** Made with the pipeline. */
export interface Running {
  /** Until it resolves, requests wait. */
  readonly loading?: Promise<void> | undefined
  /** What URLs in pages depend on. */
  readonly changing?: readonly Changing[]
  /** Members of `ctx.assets`. */
  readonly helpers?: Helpers | undefined
  readonly names?: Names | undefined
  /** What open pages are told about as a whole. */
  readonly followed?: readonly Followed[] | undefined
  /**
   * Whether a name contains a hash of what is in the file, so that it never changes at its URL.
   * @param path decoded URL path: `/static/assets/main-CZTearZk.css`
   */
  isHashed?(mount: Pick<MountSettings, 'urlPath'>, path: string): boolean
  /** What responds to a request that the rest of the stack leaves as a 404; undefined for a path that has nothing. */
  readonly responderAt?: (path: string) => ((ctx: Context) => Promise<void>) | undefined
  readonly watch?: Watch | undefined
  /** What a developer should know of mounts when the server has started, by their URL paths. */
  states?(): Promise<ReadonlyMap<string, string>>
}

/** What may change while a server runs. */
export interface Changing {
  /** Looks for changes before a page, unless it did so less than `seconds` ago; undefined: there is nothing to wait for. */
  readonly refresh?: ((seconds: number) => Promise<unknown> | undefined) | undefined
  /** Changes whenever a URL in a page may. */
  readonly version?: string | undefined
}

/** What other middleware may do harm to is looked at. */
export interface Watch {
  /** For a response with a file, which middleware in front may still change. */
  file(ctx: Context): void
  /** For a koaAssets that is about to provide `ctx.assets`. */
  provider(ctx: Context): void
}

/** Names of files in mounts, which are looked for behind those of the apps. */
export interface Names {
  /** The file of a source; undefined for an unknown name. @throws TypeError when several mounts have it */
  file(name: string, mount: string | undefined): AssetAddress | undefined
  /** Whether a page may load it, with all that it needs. */
  hasEntry(name: string, mount: string | undefined): boolean
  /** What a page loads for it. @throws AssetError for an unknown name; TypeError as `file` */
  entry(name: string, mount: string | undefined): readonly LoadedUrl[]
  /** What messages call the places that are searched. */
  labelsAt(mount: string | undefined): string
  /** Those that exist, as far as it is known. */
  known(): KnownNames
}

export interface KnownNames {
  readonly entries: ReadonlySet<string>
  readonly sources: ReadonlySet<string>
  /** Whether there are no other entries. */
  readonly hasAllEntries: boolean
  /** Whether there are no other sources. */
  readonly hasAllSources: boolean
}

/** Files of a mount that are written together. */
export interface Followed {
  readonly urlPath: string
  /** Undefined until all its files were looked at. */
  readonly build: Build | undefined
  /** What a developer should know. */
  readonly state: string | undefined
  /** Undefined when there is nothing to wait for. */
  refresh(seconds: number): Promise<void> | undefined
  /**
   * Whether a file is one of them.
   * @param file decoded path below the mount's directory
   * @param writtenAt milliseconds since 1970
   */
  hasBuilt(file: string, writtenAt: number): boolean
}

export interface Build {
  /** Another one once any of the files has been written. */
  readonly version: string
  /** When the last of them was written: milliseconds since 1970. */
  readonly changedAt: number
}

/** Undefined for an app that has none. @param own resolves to those in directories, which may import others */
export type MakeSources = (
  app: AppSettings,
  own: () => Promise<readonly Pick<SourceFile, 'name' | 'file'>[]>
) => MoreSources | undefined

/** Files that one app publishes as they are, under names of their own. */
export interface MoreSources {
  /** What messages call the place where they are. */
  readonly place: string
  readonly files: readonly SourceFile[]
  /** Grows with every change of `files`. */
  readonly version: number
  /** Of what `imports` contains. */
  readonly digest: string
  /**
   * For pages; undefined until it is known.
   * @throws AssetError while a file that is asked for cannot be published
   */
  readonly imports: KnownImports | undefined
  /** Whether the name can only be one of these. */
  owns(name: string): boolean
  /** Lists the files, or brings the list up to date with the disk. @throws AssetError for a file that cannot be published */
  verify(): Promise<void>
  /** The name of the file that a path leads to, through any links. */
  nameAt(path: string): Promise<string | undefined>
  /** The name that a bare specifier means. @param importer its name */
  named(specifier: string, importer: string): Promise<string | undefined>
}

export interface SourceFile {
  readonly name: string
  /** Absolute. */
  readonly file: string
  /** That links may not leave; absolute. */
  readonly directory: string
  /** The bare specifiers that mean it. */
  readonly specifiers: readonly string[] | undefined
  /** What it is a part of: `chart.js`. */
  readonly group?: string | undefined
}

export interface KnownImports {
  /** Names by bare specifier. */
  readonly everywhere: ReadonlyMap<string, string>
  /** Other ones, by the folder of the importers. */
  readonly scopes: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** The names of what a module, or a script of the app, imports statically, by its own. */
  readonly links: ReadonlyMap<string, readonly string[]>
}

/** By the name below `-/`: `live`, or the empty string for `-/` itself. */
export type Pages = Readonly<Record<string, Page>>

/** Responds to a GET or HEAD request that comes from this machine. */
export type Page = (ctx: Context) => Promise<void> | void

export interface OptionSpec {
  readonly short?: string
  /** The placeholder for its value in the help: `FILE`, or `[FILE]` if it may be missing. Undefined: a flag. */
  readonly value?: string
  readonly description: string
  /** Whether it may be given several times. */
  readonly multiple?: true
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

/** The options on the command line, of all commands. */
export type Values = Readonly<
  Partial<
    Record<'config' | 'root' | 'env' | 'keep' | 'age' | 'manifest', string> &
      Record<'json' | 'quiet' | 'help' | 'version' | 'dry-run' | 'verbose' | 'minify', boolean> &
      Record<'include' | 'exclude' | 'entry', readonly string[]>
  >
>

/** What a command is run with. */
export interface Call {
  /** All that there are. */
  readonly extras: readonly Extra[]
  /** Options that an addition has read, for what the command calls. */
  readonly added?: object
  readonly values: Values
  readonly args: readonly string[]
  readonly output: Output
  /** Loads the project's environment and its configuration file, as a deployment or a server in development has them. */
  readonly loadSite: (use: 'deployment' | 'development') => Promise<Site>
}

export interface Command {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** The name of the command that follows it in that list. Undefined: the end. */
  readonly before?: string
  /** What it does, and when to use it; at most 84 characters per line. */
  readonly about: string
  /** The placeholders for its arguments: `<url or name>`, or `[dir]` if optional. Undefined: it takes none. */
  readonly argument?: string
  readonly options: OptionSpecs
  readonly examples: readonly (readonly [line: string, description: string])[]
  /** Resolves to the exit status. */
  readonly run: (call: Call) => Promise<number>
}

/** What belongs to a command, and is known to an extra only. */
export interface Addition extends Pick<Command, 'about' | 'argument'> {
  readonly options?: OptionSpecs
  readonly examples?: Command['examples']
  /** The name of the command. */
  readonly to: string
  /** In the place of the command, for a line that asks for it; undefined for any other. */
  readonly run?: (call: Call, command: Command) => Promise<number> | undefined
}

/** Results go to stdout, progress and errors to stderr. */
export interface Output {
  readonly isJson: boolean
  /** What the command was run for: JSON for programs with --json, a text for people unless --quiet. */
  readonly result: (value: unknown, text: string) => void
  /** Progress; silent with --json or --quiet. */
  readonly note: (text: string) => void
  readonly warn: (text: string) => void
  readonly error: (text: string) => void
  /** Shows a line until the next one, or until anything else is printed; undefined where nobody would see it. */
  readonly status: ((line: string) => void) | undefined
}
