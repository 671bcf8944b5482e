// The option `inline` names files by globs.
import type { AppSource } from '../../runtime/app/parts.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { matcherOf } from '../../runtime/files/paths.ts'

/** @param name without a query */
export function isInlined(name: string, { app, source }: AppSource): boolean {
  if (app.inline === undefined || source.compiler || !/\.svg$/i.test(name)) return false
  const isOwn = app.sources.some(({ dir }) => dir === source.directory)
  return isOwn ? matcherFor(app)(name) : [app.inline].flat().includes(name)
}

const matchers = new WeakMap<AppSettings, (name: string) => boolean>()

function matcherFor(app: AppSettings): (name: string) => boolean {
  const known = matchers.get(app) ?? matcherOf([app.inline ?? []].flat())
  matchers.set(app, known)
  return known
}
