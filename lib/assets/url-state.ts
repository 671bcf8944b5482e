// What URLs in pages depend on, and may change while the server runs: looked at before a page.
import type { Changing, Running } from './parts.ts'
import type { PublishingParts } from './published.ts'
import type { Settings } from './settings/settings.ts'

export class UrlState {
  /** How long what was seen is trusted. */
  readonly #seconds: number
  /** Mostly few or none. */
  readonly #all: readonly Changing[]

  constructor(
    { env, publicApp, apps }: Settings,
    { onRequest, precompiled, running }: PublishingParts & { readonly running: readonly Running[] }
  ) {
    this.#seconds = env === 'development' ? 0 : publicApp.revalidate
    const listed = apps.flatMap(app => onRequest?.listed(app) ?? [])
    const hasNames = running.some(({ names }) => names)
    this.#all = [
      ...[precompiled, onRequest?.fingerprints].filter(each => each !== undefined),
      ...running.flatMap(({ changing = [] }) => changing),
      ...listed
        .flatMap(({ more }) => more)
        .map(each => ({
          refresh: () => each.verify(),
          get version() {
            return each.digest
          }
        })),
      // Which names are the app's own, where a mount may have them too; what is measured of their sources.
      ...(hasNames || onRequest?.measuresOf
        ? listed.map(sources => ({ refresh: () => sources.refresh() }))
        : [])
    ]
  }

  /** Undefined when there is nothing to wait for. */
  refresh(): Promise<unknown> | undefined {
    let work: Promise<unknown>[] | undefined
    for (const each of this.#all) {
      const refreshed = each.refresh?.(this.#seconds)
      if (refreshed) (work ??= []).push(refreshed)
    }
    return work && Promise.all(work)
  }

  /** Changes with any URL in pages. */
  get version(): string {
    let version = ''
    for (const each of this.#all) {
      const one = each.version
      if (one) version = version === '' ? one : `${version}-${one}`
    }
    return version
  }
}
