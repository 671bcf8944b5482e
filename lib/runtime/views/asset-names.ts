// Declares the types of names that helpers take: any string, or the names in `assets.d.ts` if that exists.

declare global {
  /**
   * The names of the project's assets: `assets.d.ts`, which `npx koa-fresh-assets types` writes, fills it. It
   * is global, so that it holds for every entry point of the package, and for imports and `require` alike.
   */
  // oxlint-disable-next-line typescript/no-empty-object-type -- without that file all names are accepted
  interface KoaFreshAssetNames {}
}

type NameKind = 'apps' | 'scripts' | 'styles' | 'images' | 'others' | 'entries'

type NamesOf<K extends NameKind, Otherwise = string> = K extends keyof KoaFreshAssetNames
  ? KoaFreshAssetNames[K]
  : Otherwise

type WithoutExtension<Name, Extension extends string> = Name extends `${infer Base}${Extension}`
  ? Base
  : never

/** Absolute URLs, and names with a query or a fragment: these are not checked. */
type Unlisted =
  | `${'http:' | 'https:' | ''}//${string}`
  | `${'data' | 'blob'}:${string}`
  | `${string}${'?' | '#'}${string}`

type Own = 'scripts' | 'styles' | 'images' | 'others'
type Known<K extends NameKind, Short extends NameKind = never, Extension extends string = never> =
  | NamesOf<K>
  | WithoutExtension<NamesOf<Short>, Extension>
  | Unlisted

type Or<K extends NameKind, Name> = Name | NamesOf<K, never>
type OrPath<Name> = Name | `${'.' | ''}/${Name & string}`

interface NamesByHelper {
  javascript: Known<'scripts', 'scripts', '.js'>
  stylesheet: Known<'styles', 'styles', '.css'>
  image: Known<'images'>
  path: Known<Own>
  preload: Or<'entries', Known<Own, 'scripts' | 'styles', '.js' | '.css'>>
  entry: OrPath<NamesOf<'entries'>>
}

type Helper = keyof NamesByHelper

/**
 * The names that a helper takes, by default those of `path` and `url`. Without `assets.d.ts` it is `string`.
 * @example
 * path(`flags/${country}.svg` as AssetName)
 * @example
 * stylesheet(theme as AssetName<'stylesheet'>)
 */
export type AssetName<Of extends Helper = 'path'> = NamesByHelper[Of]

/** The names of the project's apps. */
export type AppName = NamesOf<'apps'>

type Given<Name> = readonly [name: Name, ...names: Name[]]

/** One or more names, then options that apply to all of them. */
export type NamesThen<Of extends Helper, Options> =
  | readonly [...names: Given<AssetName<Of>>, options: Options | undefined]
  // This is written in full: for a union, TypeScript's error explains the longest member.
  | readonly [
      name: AssetName<Of>,
      second?: AssetName<Of>,
      third?: AssetName<Of>,
      ...names: AssetName<Of>[]
    ]

// Interfaces, because the built types would contain an alias as it resolves when no names are known. The first signature
// is fast, even with thousands of names; by the second, a tuple, TypeScript suggests the nearest one.

/** A helper that takes one name. */
export interface OfName<Of extends Helper, Options, Result = string> {
  (name: AssetName<Of>, options?: Options): Result
  (...args: NearName<AssetName<Of>, Options>): Result
}

type NearName<Name, Options> =
  | [name: Name, options?: undefined]
  | [name: Name, options: Options | undefined]

/** A helper that takes several names. */
export interface OfNames<Of extends Helper, Options> {
  (name: AssetName<Of>, options?: Options): string
  (...args: NamesThen<Of, Options>): string
}
