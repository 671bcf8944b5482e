// What an extra can be made of: the core reaches extras in no other way. A part is here because an extra uses it.
import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from 'koa'
import type { OptionSpecs, Output, Values } from '../command-line.ts'
import type { ServedPlace } from '../files/containment.ts'
import type { Stamp } from '../files/disk.ts'
import type { Unsaved } from '../files/writing/unsaved.ts'
import type { Compiler } from './compilers/compiler.ts'
import type { CompressExtras, PrecompileExtras } from './settings/extra-options.ts'
import type { KoaAssetsOptions } from './settings/options.ts'
import type { AppSettings, MountSettings, Settings } from './settings/settings.ts'
import type { Fingerprinted, WithoutHash } from './urls/fingerprint.ts'
import type { Helpers, ImageSize, Imports } from './views/asset-url.ts'
import type { MountAssets } from './views/mount-assets.ts'

export type { ImageSize, Imports }

/** The settings, and the extras that they ask for. */
export interface Site extends Settings {
  /** As they were given. */
  readonly options: KoaAssetsOptions
  readonly extras: readonly Extra[]
  /** With some options in place of the given ones, or as `precompile` has them. @throws as `koaAssets` */
  readonly changed: (options: KoaAssetsOptions, isPrecompile?: boolean) => Site
}

/**
 * One folder of lib/extras, as its line in extras.ts tells it to the core. Where one extra alone has a member, its
 * docstring says why the core asks for it.
 * @typeParam Whole `Pipeline`, which is made of rooms above this one
 */
export interface Extra<Whole = unknown> {
  /** That of its folder. */
  readonly name: string
  /** The names of the extras that it imports: without one of them it goes as well. */
  readonly standsOn?: readonly string[]
  /**
   * What it does for requests and pages; undefined where no option asks for it.
   * @throws AssetError for what is needed and cannot be used: no server starts
   */
  run?(site: Site, warn: Warn): Running | undefined
  /** Begins what it does beside a server in development. */
  start?(pipeline: Whole): Promise<void>
  /** Pages for developers below `<prefix>/-/`, made with the first request for one. */
  pages?(pipeline: Whole): Promise<Pages>
  /** Members of Koa's `ctx`. Each middleware provides its own, and the core alone knows when. */
  methods?(pipeline: Whole): Provide
  /** What it adds to the command line. */
  commandLine?(): Promise<CommandLine>
  /** What its rows of a report say, as texts with headings. */
  rows?(report: object): Promise<readonly (readonly [heading: string, text: string])[]>
  /** Sources of apps. The core lists, searches and publishes them all. */
  readonly sources?: ExtraSources
  /** What views say. The core publishes what they import, and no check of names but this one is part of a build. */
  readonly views?: Views
  /** The sizes of images. The core reads the files, and keeps their sizes in the manifest. */
  readonly imageSizes?: ImageSizes
  /** Keeps the index of what was published on request, which the core makes and reads. */
  keepIndex?(pipeline: Whole): Promise<IndexKeeper | undefined>
  /**
   * Makes stylesheets and scripts smaller between the compilers and the references of the core; undefined where no app
   * wants it.
   * @throws AssetError for what an app asks for and is not there
   */
  transform?(site: Site, asked: PrecompileExtras, warn: Warn): Promise<Transform | undefined>
  /** Joins modules between the references and the fingerprints of the core; undefined where no app wants it. */
  bundler?(
    site: Site,
    /** Those of all apps, which belong to a room above this one. */
    sources: unknown,
    isMinified: (app: AppSettings) => boolean
  ): Promise<Bundler | undefined>
  /** Finds deltas for the files that a server sends, which the core does. Made at start; undefined where none are wanted. */
  sender?(settings: Settings): Sender | undefined
  /** Deltas, in files beside others: the core writes them with these. */
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

/** Sources that an extra adds to those in directories, such as the files of packages. */
export interface ExtraSources {
  /** Undefined: no app has any. */
  make(site: Site): Promise<MakeSourceList | undefined>
  /** How it could publish what a bare specifier means, for messages; undefined where it cannot tell. */
  advise?(app: AppSettings, specifier: string, site: Site): Promise<string | undefined>
}

export interface Views {
  /** The names that views load, as far as they are known. */
  mentions(site: Site): Promise<readonly Mention[]>
  /** Problems for `verify`, and for the warnings of `precompile`; undefined where the options ask for no check. */
  check(site: Site): Promise<Check | undefined>
}

export interface CommandLine {
  readonly commands?: readonly Command[]
  /** What it adds to commands of others. */
  readonly additions?: readonly Addition[]
}

/** A file that is not as it should be. */
export interface Problem {
  /** The URL path of the file, `/assets/app-<32 hex>.css.br`; in a directory, its path there. */
  readonly path: string
  /** What is wrong, to be read after the path: `is missing`. */
  readonly message: string
}

export interface ImageSizes {
  /** Whether files of that name have a size; a name without a query. */
  isFor(name: string): boolean
  /** Called with the first of them. */
  load(): Promise<ReadImageSize>
}

/** Undefined for bytes that are no image, or one without a size. @param bytes those of a file, or its beginning */
export type ReadImageSize = (bytes: Uint8Array) => ImageSize | undefined

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
  /** What is doubtful about the options, said when a server starts. */
  readonly notices?: readonly string[]
  /** Until it resolves, requests wait. */
  readonly loading?: Promise<void> | undefined
  /** What URLs in pages depend on. */
  readonly pageDependencies?: readonly PageDependency[]
  /** Members of `ctx.assets`. */
  readonly helpers?: Helpers | undefined
  /** The files of mounts, which are looked for behind those of the apps. */
  readonly mountAssets?: MountAssets | undefined
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
export interface PageDependency {
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
export type MakeSourceList = (
  app: AppSettings,
  own: () => Promise<readonly Pick<SourceFile, 'name' | 'file'>[]>
) => SourceList | undefined

/** Sources of one app that are not in its directories, under names of their own. */
export interface SourceList {
  /** What messages call the place where they are. */
  readonly place: string
  readonly files: readonly SourceFile[]
  /** Grows with every change of `files`. */
  readonly version: number
  /** Whether the name can only be one of these. */
  owns(name: string): boolean
  /** Lists the files, or brings the list up to date with the disk. @throws AssetError for a file that cannot be published */
  verify(): Promise<void>
  /** The name of the file that a path leads to, through any links. */
  nameAt?(path: string): Promise<string | undefined>
  /** The name that a bare specifier means. @param importer its name */
  named?(specifier: string, importer: string): Promise<string | undefined>
  /**
   * For pages; undefined until it is known.
   * @throws AssetError while a file that is asked for cannot be published
   */
  readonly imports?: KnownImports | undefined
  /** The digest of what `imports` contains. */
  readonly digest?: string
}

export interface SourceFile {
  readonly name: string
  /** Absolute. */
  readonly file: string
  /** That links may not leave; absolute. */
  readonly directory: string
  /** Undefined: the file is published as it is. */
  readonly compiler?: Compiler | undefined
  /** The bare specifiers that mean it. */
  readonly specifiers?: readonly string[] | undefined
  /** The package that it belongs to: `chart.js`. */
  readonly packageName?: string | undefined
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

// Parts of a precompile.

/** @typeParam Nodes the assets by path, links and drafts included, which are those of a room above this one */
export interface Bundler<Nodes = unknown> {
  /** Whether a module is left as it is until then. */
  takes(app: AppSettings, source: Pick<SourceFile, 'packageName'>): boolean
  /** Changes the nodes. @throws AssetError for a module that cannot be read */
  join(nodes: Nodes, mentions: readonly Mention[]): Promise<void>
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

// Representations of files: those that extras send, and those that they keep in files.

/** Sends further representations of files, to clients that can read them. */
export interface Sender {
  /** Asked when a file is loaded; undefined for one whose responses stay as they are. */
  of(file: SentFile): Promise<Sent | undefined>
}

/** What one file holds: the bytes of a representation. */
export interface Stored {
  /** `identity`, or the name of a content coding. */
  readonly coding: string
  /** Absolute. */
  readonly file: string
  readonly stamp: Stamp
  /** In bytes. */
  readonly size: number
  /** Undefined for a file that is too big for memory, unless its digest was asked for. */
  readonly digest: string | undefined
  /** Undefined for a file that is too big for memory. */
  readonly body: Buffer | undefined
}

export interface SentFile extends Stored {
  /** The decoded URL path. */
  readonly path: string
  readonly place: ServedPlace
  /** The URL path, with the base, around the hash in it; undefined for a file that may change at its URL. */
  readonly around: WithoutHash | undefined
  /** The path without our fingerprint; undefined for a file that precompile did not write. */
  readonly plain: string | undefined
  /** The composed names in its folder, as far as they are known; the last ones may be missing. */
  readonly names: () => Promise<ReadonlyMap<string, unknown> | undefined>
  /** The same with its digest, unless it changed meanwhile. */
  readonly digested: () => Promise<Stored>
}

export interface Sent {
  /** Of every response that has the fields of the file. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The request fields by which a representation is selected. */
  readonly vary: readonly string[]
  /** What may be sent to a request instead of the file; undefined: nothing. */
  readonly find?: ((headers: IncomingHttpHeaders) => Further | undefined) | undefined
}

export interface Further {
  /** By which it is remembered, among those of one path. */
  readonly key: string
  /** What the client needs in order to read it, and has. */
  readonly needs: string
  /** Called until it is remembered; undefined if there is no such file. */
  readonly read: () => Promise<{ readonly needs: string; readonly stored?: Stored } | undefined>
}

/** Each of its files takes another file to read: an earlier version of the file that it represents. */
export interface Representations {
  /** The path of the file that one represents, and the digest of the one that it takes; undefined for other paths. */
  split(path: string): Fingerprinted | undefined
  /** What is wrong with one, to be read after its path. @param versions of the original, one of which it takes */
  faultOf(file: string, original: string, versions: readonly string[]): Promise<string | undefined>
  /** Brings those beside a precompiled file up to date. @param before by plain URL path, what pages name now */
  ofPublished(
    settings: Settings,
    before: ReadonlyMap<string, { readonly target: string }>,
    unsaved: Unsaved
  ): Writer<PrecompiledFile>
  /** The same in the directory of a build. @param earlier an earlier build, absolute, if that is known */
  ofBuild(
    directory: BuiltDirectory,
    options: { readonly options: CompressExtras; readonly earlier: string | undefined },
    unsaved: Unsaved
  ): Promise<Writer<CompressedFile>>
}

export interface Writer<File> {
  /** Called once the file and its compressed copies are there. */
  write(file: File): Promise<void>
  /** Rows of the report. */
  report(): Promise<object>
}

interface CopiedFile {
  /** The size of its smallest representation, in bytes. */
  readonly smallest: number
}

/** With a fingerprint in its name. */
export interface PrecompiledFile extends CopiedFile {
  /** The decoded URL path. */
  readonly path: string
  /** Without the fingerprint. */
  readonly plain: string
  readonly size: number
  readonly digest: string
}

export interface CompressedFile extends CopiedFile {
  /** Relative to the directory. */
  readonly path: string
  readonly bytes: Uint8Array
}

export interface BuiltDirectory {
  /** Its real path. */
  readonly path: string
  /** Nothing is read or written through a symbolic link. */
  readonly place: ServedPlace
  /** The regular files that can be requested, relative to the directory, with slashes; sorted. */
  readonly files: ReadonlySet<string>
}
