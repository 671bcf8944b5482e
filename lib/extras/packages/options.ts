import { appended, entriesGiven, isRecord, isText, type Expectation } from '../../check-options.ts'
import { isCanonicalBelow } from '../../assets/urls/canonical-path.ts'

/** Paths in packages, by the name of the package. */
export type PackageFiles = Readonly<Record<string, string | readonly string[] | undefined>>

export interface PackageOptions {
  /**
   * npm packages whose files are published as they are, at `npm/<package>/<path in the package>`. Default: none.
   *
   * A name, or one of a subpath that the package exports, stands for the module that a browser imports by
   * it and all that this one imports; `importMap()` contains their bare specifiers. An object names files of
   * a package instead, which bring along what they refer to.
   *
   * A package that is not installed, or is not made of modules, is an AssetError on every page in development and
   * in precompile.
   *
   * @example
   * ['preact', 'preact/hooks', { '@fontsource/inter': ['latin-400.css'] }]
   */
  packages?: string | PackageFiles | readonly (string | PackageFiles)[] | undefined
}

const isName = (value: unknown) => isText(value) && isCanonicalBelow(value)

const PACKAGE = /^(?:@[\w.~-]+\/)?[\w~-][\w.~-]*(?=\/|$)/

export function isPackage(value: unknown): boolean {
  if (!isRecord(value)) return isName(value) && PACKAGE.test(String(value))
  return entriesGiven(value).every(
    ([name, files]) => PACKAGE.exec(name)?.[0] === name && [files].flat().every(isName)
  )
}

export const PACKAGES = {
  packages: appended<string | PackageFiles>(
    "a list of packages such as 'preact' or 'preact/hooks', and of files of packages such as { bootstrap: ['dist/css/bootstrap.css'] }",
    isPackage
  )
} satisfies Record<keyof PackageOptions, Expectation>

/** The packages that an app has, each once. */
export function namesOf({ packages }: { readonly packages: readonly (string | PackageFiles)[] }) {
  const names = packages.flatMap(each => (typeof each === 'string' ? each : Object.keys(each)))
  return [...new Set(names)]
}
