// The cache groups of one response (RFC 9875): those that it belongs to, and those that it invalidates.
import type { Context } from 'koa'
import { formatGroups, formatKeys } from '../http/cache-groups.ts'
import { isSafe } from '../http/preconditions.ts'

const INVALIDATION = 'Cache-Group-Invalidation'

export class GroupFields {
  private readonly ctx: Context
  private joined: readonly string[] = []
  private invalidated: readonly string[] = []

  constructor(ctx: Context) {
    this.ctx = ctx
  }

  /** @param header the field of a CDN that gets the same groups */
  join(groups: readonly string[], header: string | undefined): void {
    const joined = merge(this.joined, groups)
    if (joined.length === 0) return
    const value = formatGroups(joined)
    const keys = header === undefined ? undefined : formatKeys(header, joined)
    this.joined = joined
    this.ctx.set('Cache-Groups', value)
    if (header !== undefined && keys !== undefined) this.ctx.set(header, keys)
  }

  invalidate(groups: readonly string[]): void {
    const { method } = this.ctx
    if (isSafe(method)) {
      throw new Error(
        `ctx.invalidateCacheGroups was called for a ${method} request: caches ignore the invalidation in ` +
          'responses to safe methods (RFC 9875 section 3); change the resource with POST, PUT, PATCH or DELETE'
      )
    }
    const invalidated = merge(this.invalidated, groups)
    if (invalidated.length === 0) return
    this.ctx.set(INVALIDATION, formatGroups(invalidated))
    this.invalidated = invalidated
  }

  /** A request that failed changed nothing (RFC 9111 section 4.4). */
  withdrawInvalidation(): void {
    if (this.invalidated.length === 0 || this.ctx.res.headersSent) return
    this.invalidated = []
    this.ctx.remove(INVALIDATION)
  }
}

function merge(earlier: readonly string[], more: readonly string[]): readonly string[] {
  return [...new Set([...earlier, ...more])]
}
