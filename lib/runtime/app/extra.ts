// Declares the parts of an extra: the core reaches extras in no other way. A part is here because an extra uses it.
import type { Warn } from '../errors.ts'
import type { Context } from 'koa'
import type { PrecompileExtras } from '../settings/extra-options.ts'
import type { Compiler } from '../settings/compiler.ts'
import type { KoaAssetsOptions } from '../settings/options.ts'
import type { ServedFile } from '../serving/file.ts'
import type { Wanted } from '../serving/request.ts'
import type { AppSettings, MountSettings, Settings } from '../settings/settings.ts'
import type { Details } from '../urls/manifest.ts'
import type { Deltas } from './deltas.ts'
import type { Bundler, Mention, Transform } from './transform.ts'
import type { Helpers, MountAssets } from '../views/asset-url.ts'

export interface Project extends Settings {
  readonly options: KoaAssetsOptions
  readonly extras: readonly Extra[]
  /** Makes the transforms that run in every environment, for the first text that needs them. */
  readonly transforms: () => Promise<readonly Transform[]>
  /** Returns the project with some options replaced, or as `precompile` has them. @throws like `koaAssets` */
  readonly changed: (options: KoaAssetsOptions, isPrecompile?: boolean) => Project
}

/** A folder of lib/extras. A member that only one has says why the core asks. @typeParam Whole is `Pipeline` */
export interface Extra<Whole = unknown> {
  readonly name: string
  /** The names of the extras that it imports: it cannot be kept without them. */
  readonly standsOn?: readonly string[]
  /** Makes its part of requests and pages. @throws AssetError for an unusable file: the server does not start */
  run?(project: Project, warn: Warn): Running | undefined
  /** Begins its work beside a server in development. */
  start?(pipeline: Whole): Promise<void>
  /** Makes the pages for developers below `<prefix>/-/` when the first one is requested. */
  pages?(pipeline: Whole): Promise<Pages>
  /**
   * Makes members of Koa's `ctx`. Each middleware provides its own, and only the core knows when: `hasNames` is true if
   * `ctx.assets` will be that of this middleware, not of one in front.
   */
  methods?(pipeline: Whole): (ctx: Context, hasNames: boolean) => void
  /** Loads its commands, its additions to others, and its rows of the report of a precompile. */
  commandLine?(): Promise<CommandLine>
  /** The sources that it adds to apps. The core lists, searches and publishes them all. */
  readonly sources?: ExtraSources
  /** The names in views. The core publishes the modules that views import, and a build checks no other names. */
  readonly views?: Views
  /** The details that pages contain of files. The core reads the files, and keeps the details in the manifest. */
  readonly details?: FileDetails
  /** Keeps the index of files published on request for the next process; the core makes and reads it. */
  readonly keptIndex?: {
    /** @param publishing of a room above */
    keeper(publishing: unknown): Promise<IndexKeeper | undefined>
    /** Returns the URL paths of files that were published on request, and that nobody has replaced since. */
    written(settings: Settings): Promise<readonly string[]>
  }
  /** Changes texts between compilers and references. @param by the options of a precompile */
  transform?(project: Project, by?: PrecompileExtras, warn?: Warn): Promise<Transform | undefined>
  /** Joins modules between the references and the fingerprints of the core; undefined if no app wants it. */
  bundler?(
    project: Project,
    sources: unknown,
    transforms: readonly Transform[]
  ): Promise<Bundler | undefined>
  /** The deltas of files: only the core knows what it sends, and when a precompiled file exists. */
  readonly deltas?: Deltas
}

export interface IndexKeeper {
  /** Reads what an earlier process kept, when it is first called. */
  restored(): Promise<void>
  saveSoon(): void
}

/** Sources that an extra adds to those in directories, such as the files of packages. */
export interface ExtraSources {
  make(project: Project): Promise<MakeSourceList | undefined>
  /** Returns how it could publish the module of a bare specifier, for messages; undefined if it cannot tell. */
  advise?(app: AppSettings, specifier: string, project: Project): Promise<string | undefined>
}

export interface Views {
  load(): Promise<unknown>
  /** Finds the names that views load, as far as they can be recognised. */
  mentions(project: Project): Promise<readonly Mention[]>
  /** Checks the names, for `verify` and the warnings of `precompile`; undefined if the options ask for no check. */
  check(project: Project): Promise<Check | undefined>
}

export interface CommandLine {
  readonly commands?: readonly Command[]
  readonly additions?: readonly Addition[]
  /** Formats its part of a precompile's report as rows of heading and text. */
  rows?(report: object): Rows
}

export type Rows = readonly (readonly [heading: string, text: string])[]

export interface Problem {
  /** The URL path of the file, `/assets/app-<32 hex>.css.br`; in a directory, its path there. */
  readonly path: string
  /** The fault, worded to follow the path: `is missing`. */
  readonly message: string
}

export interface FileDetails {
  /** Tells whether files of that name have such details; the name has no query. */
  isFor(name: string): boolean
  /** @param apps those whose files will be read; none for files in mounts */
  load(apps: readonly AppSettings[]): Promise<ReadDetails>
}

export interface AppSource {
  readonly app: AppSettings
  readonly source: SourceFile
}

/** @param bytes of the file, or its first 256 KiB @throws AssetError for a file that pages may not contain */
export type ReadDetails = (bytes: Uint8Array, file: string, asset?: AppSource) => Details

export interface Check {
  readonly problems: readonly Problem[]
  /** The number of checks, for the end of the report: `12 names in 3 views`. */
  readonly total: string
  /** The section of the documentation that says more about the problems. */
  readonly help: string
  readonly report: object
  /** Warnings for `precompile` and `verify` that are not problems. */
  readonly doubts: readonly string[]
}

/** The part of an extra that runs in a server; it is made with the pipeline. */
export interface Running {
  /** Warnings about the options, given when a server starts. */
  readonly notices?: readonly string[]
  /** Loads what requests wait for; called again after a failure. */
  readonly load?: (() => Promise<void>) | undefined
  readonly pageDependencies?: readonly PageDependency[]
  readonly helpers?: Helpers | undefined
  /** The files of mounts, which are searched after those of the apps. */
  readonly mountAssets?: MountAssets | undefined
  /** Tells whether a name contains a hash of the bytes, so its URL always has the same file. @param path decoded */
  isHashed?(mount: Pick<MountSettings, 'urlPath'>, path: string): boolean
  /** Returns a responder for a path that the rest of the stack leaves as a 404; undefined for any other path. */
  readonly responderAt?:
    | ((path: string) => ((ctx: Context) => Promise<void>) | undefined)
    | undefined
  /** Is called for a response with a file, which middleware in front may still change. */
  readonly watch?: ((ctx: Context) => void) | undefined
  /** Is called in development for a response to this machine, which middleware in front may still change. */
  responded?(ctx: Context): Promise<void>
  /** Changes the file that a request gets in development. Only the core knows which file is sent. */
  adapt?(file: ServedFile, wanted: Wanted): Promise<ServedFile>
}

/** A part of pages that may change while a server runs. */
export interface PageDependency {
  /** Looks for changes before a page, unless it did so less than `seconds` ago; undefined if nothing is awaited. */
  readonly refresh?: ((seconds: number) => Promise<unknown> | undefined) | undefined
  /** A text that changes whenever a URL in a page may. */
  readonly version?: string | undefined
}

/** Makes the lists of an app. @param own the sources in its directories, which may import others */
export type MakeSourceList = (app: AppSettings, own: OwnSources) => readonly SourceList[]

export interface OwnSources {
  listOwn(): Promise<readonly SourceFile[]>
  /** The directories in which a compiler may find imports. */
  readonly loadPaths: readonly string[]
}

/** Sources of one app that are outside of its directories, under names of their own. */
export interface SourceList {
  /** The place of the files, as messages name it. */
  readonly place: string
  readonly files: readonly SourceFile[]
  /** A number that grows with every change of `files`. */
  readonly version: number
  /** The beginning of all their names: no other name begins with it. */
  readonly prefix: string
  /** Brings the list up to date with the disk. @throws AssetError for a file that cannot be published */
  verify(): Promise<void>
  /** The requests of texts. The kept index sets those of the last process; `verify` tells whether they still hold. */
  asked?: unknown
  /** Adds the file that a text refers to, or what was compiled into it, and returns its name. */
  addFile?(path: string, from: SourceFile, compiled: readonly string[]): Promise<string | undefined>
  /** Returns the name that a bare specifier resolves to. @param importer the name of the importing module */
  named?(specifier: string, importer: string): Promise<string | undefined>
  /** Returns, only once, the draft of a script that was made to find its imports; the type is that of a room above. */
  drafted?(file: string, project: Project, isMapped: boolean): Promise<unknown>
  /** The imports that pages need to know. @throws AssetError while a file that is asked for cannot be published */
  readonly imports?: KnownImports | undefined
  readonly digest?: string
}

export interface SourceFile {
  /** The name under which it is published: `admin/menu.css` */
  readonly name: string
  readonly file: string
  /** The absolute path of the directory that links may not leave. */
  readonly directory: string
  /** The compiler; undefined for a file that is copied. */
  readonly compiler?: Compiler | undefined
  readonly specifiers?: readonly string[] | undefined
  readonly packageName?: string | undefined
  /** The reason why a file of a package is published unchanged: an option names it, or a rendered text asks for it. */
  readonly asItIs?: 'named' | 'asked'
}

export interface KnownImports {
  /** Names by bare specifier. */
  readonly names: ReadonlyMap<string, string>
  /** The names of the static imports of a module, or of a script of the app, by its own name. */
  readonly links: ReadonlyMap<string, readonly string[]>
}

/** Pages by their name below `-/`: `live`, or the empty string for `-/` itself; `POST live` for what is sent there. */
export type Pages = Readonly<Record<string, Page>>

/** Responds to a request from this machine: GET or HEAD, unless its name says POST. */
export type Page = (ctx: Context) => Promise<void> | void

export interface Call {
  readonly values: Values
  readonly args: readonly string[]
  readonly output: Output
  /** Loads the environment and the configuration file, as a deployment or a server in development has them. */
  readonly loadProject: (use: 'deployment' | 'development') => Promise<Project>
}

export interface Command {
  readonly name: string
  readonly summary: string
  /** The name of the next command in the general help; undefined for the last one. */
  readonly before?: string
  /** The purpose of the command; at most 84 characters per line. */
  readonly about: string
  /** The placeholders for its arguments: `<url or name>`, or `[dir]` if optional; undefined if it takes none. */
  readonly argument?: string
  readonly options?: OptionSpecs
  readonly examples: readonly (readonly [line: string, description: string])[]
  /** Runs the command, and resolves to its exit status. */
  readonly run: (call: Call) => Promise<number>
}

/** An option, or a way to run, that an extra adds to a command. */
export interface Addition extends Pick<Command, 'about'> {
  readonly options?: OptionSpecs
  readonly examples?: Command['examples']
  readonly to: string
  /** Runs instead of the command if the command line asks for it; returns undefined otherwise. */
  readonly run?: (call: Call) => Promise<number> | undefined
}

export interface OptionSpec {
  readonly short?: string
  /** The placeholder for its value in the help: `FILE`, or `[FILE]` if it may be missing; undefined for a flag. */
  readonly value?: string
  readonly description: string
  readonly multiple?: true
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

export type Values = Readonly<
  Partial<
    Record<'config' | 'root' | 'env' | 'keep' | 'age' | 'manifest' | 'against', string> &
      Record<'json' | 'quiet' | 'help' | 'version' | 'dry-run' | 'verbose' | 'minify', boolean> &
      Record<'include' | 'exclude' | 'entry', readonly string[]>
  >
>

/** Results go to stdout, progress and errors to stderr. */
export interface Output {
  readonly isJson: boolean
  /** Prints the result: JSON for programs with --json, a text for people unless --quiet. @returns the exit status */
  readonly result: (value: unknown, text: string, isGood?: boolean) => number
  /** Reports progress; silent with --json or --quiet. */
  readonly note: Warn
  readonly warn: Warn
  readonly error: Warn
}
