// Lists the modules that check responses in development. They belong to an extra, which can be removed.
import type { Context } from 'koa'
import { once } from '../concurrency.ts'
import type { RequestState } from './request-state.ts'
import type { HttpCacheSettings } from './settings.ts'

/** @throws Error for a response that must not be sent */
type Report = (ctx: Context, state: RequestState, settings: HttpCacheSettings) => void

const REPORTS: readonly (() => Promise<{ readonly report: Report }>)[] = [
  () => import('../../extras/warnings/responses.ts')
]

export const loadReports = once(() => Promise.all(REPORTS.map(load => load())))
