// Values that must be current before a route reads them synchronously: versionOf registers them, koaHttpCache
// refreshes them before the route runs.

type Refresh = () => Promise<void>

const MAX_REFRESHES = 1000
const refreshes = new Set<Refresh>()

/** @throws Error for more than 1000 values, a sign that each request adds one: every value costs every request */
export function keepCurrent(refresh: Refresh): void {
  if (refreshes.size >= MAX_REFRESHES) {
    throw new Error(
      `versionOf was called ${MAX_REFRESHES} times: call it once, where koaHttpCache is created`
    )
  }
  refreshes.add(refresh)
}

/** For a value that no longer changes. */
export function stopRefreshing(refresh: Refresh): void {
  refreshes.delete(refresh)
}

/** Refreshes all values; `undefined` when there are none. */
export function refreshAll(): Promise<unknown> | undefined {
  return refreshes.size === 0 ? undefined : Promise.all(Array.from(refreshes, refresh => refresh()))
}
