export { koaAssets } from './koa-assets.ts'
export {
  precompile,
  PrecompileError,
  type PrecompileOptions,
  type PrecompileReport,
  type Progress
} from './assets/precompile.ts'
export { verify, type VerifyProblem, type VerifyReport } from './assets/verify.ts'
export { clean, type CleanOptions, type CleanReport } from './assets/clean.ts'
export { versionOf, type VersionOfOptions } from './assets/version-of.ts'
export { assetSources } from './assets/sources.ts'
export { AssetError, CompileError, type AssetErrorCode, type SourceLocation } from './errors.ts'
export type { Compiler, CompilerInput, CompilerOutput } from './assets/compiler.ts'
export type {
  AppOptions,
  Configure,
  IntegrityAlgorithm,
  KoaAssetsOptions,
  LayeredOptions
} from './assets/options.ts'
export type { NamesThenPreloadOptions, Preload } from './assets/early-hints.ts'
export type { PreloadOptions, ViewHelpers } from './assets/view-helpers.ts'
export {
  type CacheDirective,
  type CacheDirectiveName,
  type CacheDirectiveOptions,
  type Fresh,
  type FreshOptions,
  type FreshOutcome,
  type FreshValidators,
  Halt,
  type HttpCacheOptions,
  type HttpCacheWords,
  koaHttpCache,
  type Lifetime,
  type ResourceState
} from './koa-http-cache.ts'
