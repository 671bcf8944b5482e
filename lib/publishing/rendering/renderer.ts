// Renders sources: drafts them, lets an extra transform their texts, and finds the assets to which their references
// lead, or reports missing ones.
import { isUtf8 } from 'node:buffer'
import { dirname, posix, resolve } from 'node:path'
import { ifAssetError, type AssetError } from '../../runtime/errors.ts'
import type { Boundary } from '../../runtime/files/containment.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { readContent, type Content } from '../../runtime/files/open-file.ts'
import { firstAnswer, inParallel, memoized } from '../../runtime/concurrency.ts'
import type { Project } from '../../runtime/app/extra.ts'
import type { Transform } from '../../runtime/app/transform.ts'
import { candidatesFor } from '../compilers/leads.ts'
import { isBare, remedyFor } from '../references/modules.ts'
import { isInModule, replaceReferences, type Reference } from '../references/references.ts'
import { appAt, assetPath, ownerOf, type AppSettings } from '../../runtime/settings/apps.ts'
import { isAbsoluteUrl } from '../../runtime/settings/table.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { Source, Sourced } from '../sources/snapshot.ts'
import type { Sources } from '../sources/sources.ts'
import { decodeIfValid, encodePath } from '../../runtime/urls/spelling.ts'
import { draft, finish, textOf, textType, type Draft, type Text } from './draft.ts'
import { importErrors, referenceErrors, typeErrors } from './errors.ts'
import { brokenMap, takeInlineMap } from './source-map.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

interface Referenced extends Sourced {
  /** True if the reference, as written, already is the asset's URL. */
  readonly isDirect?: boolean
}

/** The asset of a reference; `elsewhere` if it may lead out of the project, and undefined if nothing was found. */
type Resolution = Referenced | 'elsewhere' | undefined

/** Tells whether a reference adds files of packages, which nothing else publishes. */
const asks = ({ packageName, asItIs }: Source, { kind }: Reference) =>
  /^(?:url|string)$/.test(kind) ||
  (packageName === undefined ? kind === 'new-url' : asItIs !== undefined)

export class Renderer {
  readonly #settings: Project
  readonly #sources: Sources
  /** Returns one value for each source directory, so that its real path is looked up once. */
  readonly #placeOf: (directory: string) => Boundary

  constructor(settings: Project, sources: Sources) {
    this.#settings = settings
    this.#sources = sources
    const { symlinks } = settings
    this.#placeOf = memoized(dir => ({ root: dir, dir, symlinks }))
  }

  /** Returns undefined for a source that is gone, is not a regular file, or is a link out of its directory. */
  async draft(asset: Sourced, sourceMap?: boolean): Promise<Draft | undefined> {
    const project = this.#settings
    const { app, path, source } = asset
    const sources = this.#sources.of(app)
    const transforms = textType(source.name) ? await project.transforms() : []
    const lowering = transforms.find(each => each.targetOf?.(app))
    const isMapped = sourceMap || project.env === 'development'
    // The map shows the places of warnings.
    const given = { project, sourceMap: isMapped || lowering !== undefined }
    const known = await sources.drafted(source.file, project, given.sourceMap)
    const loadPaths = source.compiler ? sources.loadPaths : []
    const drafted = known
      ? { ...(known as Draft), app, path, source }
      : await draft(asset, this.#placeOf(source.directory), { ...given, loadPaths })
    return drafted && lowering ? this.transformed(drafted, lowering, isMapped) : drafted
  }

  /** Transforms a text before its references get URLs, which move the text after them; links.ts adjusts the map. */
  async transformed(drafted: Draft, transform: Transform, isMapped = true): Promise<Draft> {
    const bytes = await readContent(drafted.content)
    // Text in any other encoding stays unchanged.
    if (bytes.length === 0 || !isUtf8(bytes)) return drafted
    const { app, source, text } = drafted
    const { file, name } = source
    const whole = await this.#withInlineMap(drafted, new TextDecoder().decode(bytes))
    const taken = takeInlineMap(whole)
    const code = taken.map === null ? taken.code : whole
    const broken = taken.map === null ? [brokenMap(file, this.#settings.root)] : []
    const isCompiled = source.compiler !== undefined
    const target = await firstAnswer(await this.#settings.transforms(), one => one.targetOf?.(app))
    const made = await transform.apply?.({ app, name, file, code, isCompiled, target, isMapped })
    if (!made) return (await this.draft(drafted)) ?? drafted
    return {
      ...drafted,
      content: Buffer.from(made.code),
      text: await textOf(drafted, made.code, text?.dependencies ?? [], text?.leads),
      map: made.map,
      isLowered: target !== undefined,
      warnings: [...new Set([...(drafted.warnings ?? []), ...broken, ...(made.warnings ?? [])])]
    }
  }

  /** Returns the text with its linked source map inline, the only form that every tool continues. */
  async #withInlineMap(drafted: Draft, code: string): Promise<string> {
    const { text } = drafted
    const linked = text?.references.findLast(({ kind }) => kind === 'source-map')
    const found = text && linked && (await this.resolve(drafted, text, linked))
    const map = found && found !== 'elsewhere' && (await this.draft(found))
    if (!linked || !map) return code
    const data = Buffer.from(await readContent(map.content)).toString('base64')
    const url = `data:application/json;base64,${data}`
    return replaceReferences(code, [{ ...linked, suffix: '' }], [url])
  }

  /** Resolves all references. A missing, unmapped or unparsed one is an error or a warning, by the option `missing`. */
  async resolveAll(drafted: Draft) {
    const { app, text } = drafted
    const errors: AssetError[] = []
    const warnings = [...(drafted.warnings ?? [])]
    if (!text) return { found: [], errors, warnings }
    const found = await this.#resolved(drafted, text, errors)
    const report = (error: AssetError, isNeeded = true) => {
      if (app.missing === 'error' && isNeeded) errors.push(error)
      else warnings.push(error.message)
    }
    if (app.missing !== 'ignore') {
      const referrer = { ...drafted, root: this.#settings.root, beside: this.#settings }
      // A missing source map is not a mistake in the text.
      const lost = text.references.filter(({ kind }, at) => !found[at] && kind !== 'source-map')
      const list = () => this.#sources.of(app).list()
      for (const error of await referenceErrors(referrer, lost, list)) report(error)
      const { source } = drafted
      const folders = pathFrom(this.#settings.root, source.directory).split('/')
      const isOwn = source.packageName === undefined && !folders.includes('node_modules')
      const unknown = isOwn ? await this.#unknown(drafted, text) : []
      const project = this.#settings
      const advise = (specifier: string) =>
        firstAnswer(project.extras, each => each.sources?.advise?.(app, specifier, project))
      const unmapped = await importErrors(referrer, unknown, advise)
      // A module may work without its dynamic imports.
      for (const [at, error] of unmapped.entries()) report(error, unknown[at]?.kind === 'import')
      const refused = isOwn ? text.refused : []
      const untyped = await typeErrors(referrer, refused)
      for (const [at, error] of untyped.entries()) report(error, refused[at]?.kind === 'import')
    }
    return { found: found.map(to => (to === 'elsewhere' ? undefined : to)), errors, warnings }
  }

  /** Returns the files of packages that a text refers to: looking for them adds them to the sources. */
  async packagesIn(drafted: Draft): Promise<Sourced[]> {
    const { app, source, text } = drafted
    const references = text?.references.filter(each => asks(source, each)) ?? []
    if (!text || references.length === 0) return []
    const found = await this.#resolved(drafted, { ...text, references })
    return found
      .filter(each => typeof each === 'object')
      .filter(to => to.app === app && to.source.packageName !== undefined)
  }

  /** Bounds lookups, which open files: a stylesheet may refer to thousands. @param errors gets those of references */
  #resolved(drafted: Draft, text: Text, errors: AssetError[] = []): Promise<Resolution[]> {
    const failed = ifAssetError((error): Resolution => (errors.push(error), 'elsewhere'))
    return inParallel(text.references, 16, each => this.resolve(drafted, text, each).catch(failed))
  }

  plain(drafted: Draft, found: readonly (Referenced | undefined)[]): Content {
    const { base } = this.#settings
    const urls = found.map(to => (to && !to.isDirect ? base + encodePath(to.path) : undefined))
    return finish(drafted, urls)
  }

  // Tries the file next to the source or next to one that was compiled into it, as the author means it; then the URL
  // that a browser would request; then, except in a module, the file of a package, and the reference as a name.
  async resolve(
    asset: Sourced,
    { dependencies }: Pick<Text, 'dependencies'>,
    reference: Reference
  ): Promise<Resolution> {
    const { app, source } = asset
    const { name } = source
    const { file } = reference.lead ?? {}
    if (file !== undefined) return this.#byFile(app, ['/'], file, true)
    if (isBare(reference)) {
      const given =
        app.imports.get(reference.path) ?? (await this.#sources.of(app).named(reference.path, name))
      return given === undefined || isAbsoluteUrl(given) ? 'elsewhere' : this.#named(app, given)
    }
    const path = decodeIfValid(reference.path)
    // This cannot be the path of a file.
    if (path === undefined || path.includes('\0')) return 'elsewhere'
    if (path.startsWith('/')) {
      const { base, prefix } = this.#settings
      const url = posix.normalize(path)
      const found = await this.#byUrl(url)
      if (!found) return url.startsWith(`${prefix}/`) ? undefined : 'elsewhere'
      return found === 'elsewhere' || base === '' ? found : { ...found, isDirect: false }
    }
    const url = posix.join(posix.dirname(asset.path), path)
    const folders = [source.file, ...dependencies].map(dirname)
    const isOwn = source.packageName === undefined
    const beside = await this.#byFile(app, folders, path, isOwn && isInModule(reference))
    if (beside) return { ...beside, isDirect: beside.path === url }
    const direct = await this.#byUrl(url)
    if (typeof direct === 'object') return direct
    const known = direct ?? (isInModule(reference) ? undefined : await this.#byName(asset, path))
    const isOfApp = typeof known === 'object' && known.source.packageName === undefined
    if (isOfApp || !asks(source, reference)) return known
    // A file that was published before is found in `public`.
    const added = await this.#sources.of(app).addFile(path, source, dependencies)
    return added ? { app, source: added, path: assetPath(app, added.name) } : known
  }

  async #byName({ app, source }: Sourced, path: string): Promise<Resolution> {
    const folders = path.startsWith('.') ? [] : this.#sources.of(app).nodeModules
    const listed = await this.#byFile(app, folders, path)
    // The app's files come before those of packages, but stylesheets of packages do not refer to them.
    if (source.packageName !== undefined || (listed && !listed.source.packageName)) return listed
    return (await this.#named(app, posix.normalize(path).replace(/^(?:\.\.?\/)+/, ''))) ?? listed
  }

  /** Returns the bare specifiers that nothing maps. */
  async #unknown({ app, source: { name } }: Sourced, { bare }: Text): Promise<Reference[]> {
    const sources = this.#sources.of(app)
    const isMapped = await Promise.all(
      bare.map(async ({ path }) => app.imports.has(path) || sources.isMeant(path, name))
    )
    const paths = new Set<string>()
    return bare.filter((each, at) => {
      const isUnknown = !isMapped[at] && remedyFor(each, app) === undefined && !paths.has(each.path)
      return isUnknown && paths.add(each.path)
    })
  }

  async #byUrl(url: string): Promise<Resolution> {
    const app = appAt(this.#settings, url)
    if (!app) return undefined
    const name = url.slice(app.urlPrefix.length + 1)
    const found = await this.#named(app, name)
    // A tail is found, but only the whole name is part of a URL.
    if (found) return { ...found, isDirect: found.source.name === name }
    return (await statOf(publicFile(this.#settings, url)))?.isFile() ? 'elsewhere' : undefined
  }

  async #named(from: AppSettings, given: string): Promise<Referenced | undefined> {
    const { app, name } = ownerOf(this.#settings, from, given)
    const source = await this.#sources.of(app).find(name)
    return source && { app, source, path: assetPath(app, source.name) }
  }

  async #byFile(app: AppSettings, folders: readonly string[], path: string, isModule = false) {
    const sources = this.#sources.of(app)
    const isFolder = isModule && /(?:^|\/)\.{0,2}$/.test(path)
    for (const folder of folders) {
      const file = resolve(folder, path)
      const candidates = isModule ? candidatesFor([file], isFolder) : []
      const found =
        (isFolder ? undefined : await sources.findAt(file)) ??
        (await sources.findWritten(candidates))
      if (!found) continue
      const source = (await sources.find(found.name)) ?? found
      return { app, source, path: assetPath(app, source.name) }
    }
    return undefined
  }
}
