// Keeps a graph of the modules that were sent, like Vite's, and gives imports the URLs of the latest versions.
import { printable } from '../../runtime/errors.ts'
import type { ServedFile } from '../../runtime/serving/file.ts'
import type { Wanted } from '../../runtime/serving/request.ts'
import { bytesOf, Variant } from '../../runtime/serving/variant.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { decodeIfValid, encodePath } from '../../runtime/urls/spelling.ts'
import { isBare, loadModuleLexer } from '../../publishing/references/modules.ts'
import {
  mayBeAsset,
  replaceReferences,
  type Reference,
  type Referring
} from '../../publishing/references/references.ts'
import { shiftInlineMap } from '../../publishing/rendering/source-map.ts'
import type { AssetState, Following } from '../live/page-state.ts'

class Module {
  /** The decoded URL path, with the base. */
  path = ''
  readonly importers = new Set<Module>()
  imports: ReadonlySet<Module> = new Set()
  /** The imports whose edits it accepts. */
  accepted: ReadonlySet<Module> = new Set()
  acceptsItself = false
  /** True if an edit that it has accepted may be passed on to its importers. */
  mayInvalidate = false
  /** The version in its URL: the tick of its last edit, or that of its imports; 0 for none. */
  tick = 0
  editedAt = 0
  prunedAt = 0
  /** The ETag of the text that was sent last, which is next. */
  etag?: string
  text: Referring = { code: '', references: [] }
  /** The ETag that pages were last told. */
  told?: string
}

type Lexer = Awaited<ReturnType<typeof loadModuleLexer>>

/** Modules are files of the app; if a page has named this many others, all are forgotten. */
const MAX_MODULES = 20_000
/** The context, undefined without the live scripts. As it is assigned, `import.meta.hot.data.count = 1` is valid. */
const CONTEXT = 'import.meta.hot = globalThis.koaFreshAssetsHot?.(import.meta.url); '
const BEGINNING: Reference = { start: 0, end: 0, path: '', suffix: '', kind: 'constant' }
const SCRIPT = /\.m?js$/i
const HOT = /^import\s*\.\s*meta\s*\??\.\s*hot(?![\w$])/
/** Matches an argument that is neither a string nor a list. */
const ACCEPTS_ITSELF = new RegExp(`${HOT.source}\\s*\\??\\.\\s*accept\\s*\\(\\s*(?![\\s"'\`[])`)
/** Matches a use of `invalidate`, or of the context as a whole. */
const MAY_INVALIDATE = new RegExp(`${HOT.source}(?!\\s*\\??\\.(?!\\s*invalidate\\b))`)
const WINDOW = 400
const BUILT = 'packages were built again, so open pages reload unless a module accepts the change:'

export class HotModules implements Following {
  tick = 0
  onNews?: () => void
  readonly #modules = new Map<string, Module>()
  readonly #base: string

  constructor({ base }: Settings) {
    this.#base = decodeIfValid(base) ?? base
  }

  /** Changes a module on its way to a browser; the file in `public` stays unchanged. */
  async adapt(file: ServedFile, { app, path }: Wanted): Promise<ServedFile> {
    const [variant] = file.variants
    const isScript = app.compile && !app.fingerprint && SCRIPT.test(path)
    // Data that a module imports is sent unchanged.
    const data = isScript ? undefined : this.#modules.get(this.#base + path)
    if (data) data.etag = variant.etag
    if (!isScript || !variant.body) return file
    const lexer = await loadModuleLexer()
    const module = this.#at(this.#base + path)
    if (module.etag !== variant.etag) this.#read(module, variant, lexer)
    const { text } = module
    const urls = text.references.map(each =>
      each === BEGINNING ? CONTEXT : this.#withTick(each.path, module.path)
    )
    if (!urls.some(Boolean)) return file
    const code = shiftInlineMap(replaceReferences(text.code, text.references, urls), text, urls)
    const bytes = bytesOf('identity', variant.file, { bytes: Buffer.from(code), stamp: file.stamp })
    // The file may be older than its imports.
    const changed = new Variant(bytes, { ...variant.shared, lastModified: false })
    return { ...file, variants: [changed], isAtHand: false }
  }

  /** Gives the scripts in tags the URLs that their importers use. */
  withTicks(tags: string): string {
    return tags.replace(/(?<= (?:src|href)=")[^"?#]+(?=")/g, url => this.#withTick(url, '/') ?? url)
  }

  /** Gives a new tick to the modules that were edited since pages were last told, and to their importers. */
  look(states: ReadonlyMap<string, AssetState | undefined>, paths: ReadonlySet<string>): void {
    const edited = new Map<Module, AssetState | undefined>()
    for (const [path, state] of states) {
      const { url = '', version = null } = state?.part ?? {}
      const module = this.#modules.get(pathOf(url, '/'))
      if (!module) continue
      const told = module.told ?? module.etag
      // A broken module stays as it was; a new one that is broken had no version before.
      if (version === null) module.told = told ?? ''
      else {
        // A page that was opened since then has the current version under the current URL.
        const isHeld = paths.has(path) || module.etag !== version
        if (told !== undefined && told !== version && isHeld) edited.set(module, state)
        module.told = version
      }
    }
    if (edited.size === 0) return
    const [built] = [...edited].find(([, state]) => state?.isOfPackage) ?? []
    if (built) console.warn(printable(`koa-fresh-assets: ${BUILT} ${built.path}`))
    this.#advance()
    for (const module of edited.keys()) {
      module.editedAt = this.tick
      this.#renew(module)
    }
  }

  /** Returns the modules that were edited and pruned since a tick, and their importers, which may accept the edits. */
  since(tick: number): object | undefined {
    const all = [...this.#modules.values()]
    const edited = all.filter(({ editedAt }) => editedAt > tick)
    const pruned = all.filter(({ prunedAt }) => prunedAt > tick)
    if (edited.length + pruned.length === 0) return undefined
    const reached = new Set(edited)
    for (const { importers } of reached) for (const each of importers) reached.add(each)
    const pathsOf = (modules: Iterable<Module>) => Array.from(modules, ({ path }) => path)
    const modules = Array.from(reached, ({ path, importers, accepted, acceptsItself, tick }) => [
      path,
      { importers: pathsOf(importers), accepted: pathsOf(accepted), acceptsItself, tick }
    ])
    const graph = Object.fromEntries(modules) as object
    return { edited: pathsOf(edited), pruned: pathsOf(pruned), modules: graph }
  }

  #at(path: string): Module {
    const known = this.#modules.get(path)
    if (known) return known
    if (this.#modules.size >= MAX_MODULES) this.#modules.clear()
    const module = Object.assign(new Module(), { path })
    this.#modules.set(path, module)
    return module
  }

  readonly #advance = () => void (this.tick = Math.max(this.tick + 1, Date.now()))

  /** Renews a module and its importers; one that accepts it keeps its URL, unless it may pass the edit on. */
  #renew(module: Module): void {
    if (module.tick === this.tick) return
    module.tick = this.tick
    for (const importer of module.importers)
      if (!importer.accepted.has(module) || module.mayInvalidate) this.#renew(importer)
  }

  #read(module: Module, { body = Buffer.of(), etag }: Variant, { find, metasIn }: Lexer): void {
    const code = new TextDecoder().decode(body)
    const metas = metasIn(code).map(at => code.slice(at, at + WINDOW))
    const contexts = metas.filter(each => HOT.test(each))
    const own = contexts.length > 0 ? [BEGINNING] : []
    const all = find(code).references.filter(mayBeTicked)
    const found = all.toSorted((a, b) => a.start - b.start)
    const imports = found.filter(({ kind }) => kind !== 'accepted')
    // A browser imports data only with its type.
    const accepted = found.filter(({ kind, path }) => kind === 'accepted' && SCRIPT.test(path))
    const led = (references: readonly Reference[]) =>
      new Set(references.map(each => this.#at(pathOf(each.path, module.path))))
    const before = module.imports
    module.etag = etag
    module.text = { code, references: [...own, ...imports] }
    module.imports = led(imports)
    module.accepted = led(accepted)
    module.acceptsItself = contexts.some(each => ACCEPTS_ITSELF.test(each))
    module.mayInvalidate = module.acceptsItself && contexts.some(each => MAY_INVALIDATE.test(each))
    for (const each of module.imports) each.importers.add(module)
    const gone = [...before].filter(each => !module.imports.has(each))
    for (const each of gone) each.importers.delete(module)
    const pruned = gone.filter(({ importers }) => importers.size === 0)
    if (pruned.length === 0) return
    this.#advance()
    // A pruned module that is imported again runs again.
    for (const each of pruned) each.prunedAt = each.tick = this.tick
    this.onNews?.()
  }

  #withTick(url: string, base: string): string | undefined {
    const { tick = 0 } = this.#modules.get(pathOf(url, base)) ?? {}
    return tick > 0 ? `${url}?t=${tick}` : undefined
  }
}

/** Tells whether a reference may have a tick in its URL. */
const mayBeTicked = (reference: Reference) =>
  reference.kind !== 'new-url' && mayBeAsset(reference) && !isBare(reference)

/** Returns the decoded path of a URL in a module, or in a page. */
function pathOf(url: string, base: string): string {
  const { pathname } = new URL(url, new URL(encodePath(base), 'http://localhost'))
  return decodeIfValid(pathname) ?? pathname
}
