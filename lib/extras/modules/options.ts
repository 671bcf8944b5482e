import {
  appended,
  entriesGiven,
  isRecord,
  isText,
  type Expectation,
  type Option
} from '../../runtime/check-options.ts'
import { isCanonicalBelow } from '../../runtime/urls/spelling.ts'

/** Paths in packages, by the name of the package. */
type PackageFiles = Readonly<Record<string, string | readonly string[] | undefined>>

type Named = string | PackageFiles | false

export interface ModuleOptions {
  /**
   * npm packages for browsers. Default: those that modules and stylesheets of the app import and that are dependencies
   * in package.json, `dev` and `peer` included. Name here what only views and expressions import; `false`: no others.
   *
   * A name, or that of a subpath that the package exports, stands for the module `npm/<name>.js`, which Rolldown
   * builds with all its imports; `importMap()` contains the bare specifiers. An object names files of a package
   * instead, which are published unchanged, at `npm/<package>/<path in the package>`, with those to which they refer.
   *
   * A package that is not installed, or cannot be built, is an AssetError in precompile. In development it is one on
   * every page if it is named here, otherwise in the modules that import it.
   *
   * @example
   * ['preact', 'preact/hooks', { '@fontsource/inter': ['latin-400.css'] }]
   */
  packages?: Named | readonly Named[] | undefined
  /**
   * Precompile joins modules with Rolldown, and leaves out unused code. `true`: modules of packages and of the app,
   * into those that no other imports, that `import()` loads, that are workers, or that views name (see `views`).
   * `'packages'`: only those of each package; modules of the app stay separate files. `false`: none. Needs fingerprints
   * and Rolldown; stylesheets are joined in the same way, by esbuild. Default: `true` if Rolldown is installed.
   */
  bundle?: boolean | 'packages' | undefined
}

const isName = (value: unknown) => isText(value) && isCanonicalBelow(value)

const PACKAGE = /^(?:@[\w.~-]+\/)?[\w~-][\w.~-]*(?=\/|$)/

export const isPackage = (value: unknown) => isName(value) && PACKAGE.test(String(value))

const areFiles = (value: unknown) =>
  isRecord(value) &&
  entriesGiven(value).every(
    ([name, files]) => PACKAGE.exec(name)?.[0] === name && [files].flat().every(isName)
  )

const bundle: Option<ModuleOptions['bundle'], unknown> = {
  expected: "'packages', true or false",
  holds: value => value === 'packages' || typeof value === 'boolean',
  default: () => undefined
}

export const MODULES = {
  bundle,
  packages: appended<Named>(
    "a list of packages such as 'preact' or 'preact/hooks', and of files of packages such as { bootstrap: ['dist/css/bootstrap.css'] }, or false",
    value => value === false || isPackage(value) || areFiles(value)
  )
} satisfies Record<keyof ModuleOptions, Expectation>

interface AppModules {
  readonly fingerprint: boolean
  readonly bundle: boolean | 'packages' | undefined
  readonly packages: readonly Named[]
}
type AppPackages = Pick<AppModules, 'packages'>

/** Returns how modules of an app are joined; false if they are not. */
export const joinModeOf = ({ fingerprint, bundle = true }: AppModules) => fingerprint && bundle

export const namesPackages = ({ packages }: AppPackages) => packages.some(Boolean)

/** `['preact/hooks', { kit: ['a.css'] }]` -> `['preact/hooks']` */
export const specifiersIn = ({ packages }: AppPackages) =>
  packages.filter(each => typeof each === 'string')

/** Tells whether an app gets the packages that its modules import. */
export const findsPackages = ({ packages }: AppPackages) => !packages.includes(false)

/** `{ kit: ['a.css'] }` -> `['kit']` */
export const namesOf = ({ packages }: AppPackages) =>
  new Set(packages.flatMap(each => (typeof each === 'string' ? each : Object.keys(each || {}))))

/** The report on joined modules. Sizes are in bytes, without source maps. */
export interface JoinReport {
  /** The number of modules that were joined. */
  readonly modules: number
  /** The size of these modules. */
  readonly insteadOf: number
  readonly files: number
  readonly bytes: number
}

export interface JoinRow {
  /** The joined modules; undefined if there was no module to join. */
  readonly joined?: JoinReport | undefined
}
