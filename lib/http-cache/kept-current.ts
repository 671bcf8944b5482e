// Values that have to be current before a route reads them, without the route waiting for the disk: versionOf
// adds them, koaHttpCache refreshes them in front of the route.

type Refresh = () => Promise<void>

const MAX = 1000
const refreshes = new Set<Refresh>()

/** @throws Error where something adds values all the time, since each of them costs every request */
export function keepCurrent(refresh: Refresh): void {
  if (refreshes.size >= MAX) {
    throw new Error(`versionOf was called ${MAX} times: call it once, where koaHttpCache is made`)
  }
  refreshes.add(refresh)
}

/** From now on the value does not change any more. */
export function stopRefreshing(refresh: Refresh): void {
  refreshes.delete(refresh)
}

/** Brings all of them up to date; `undefined` when there are none. */
export function refreshAll(): Promise<unknown> | undefined {
  return refreshes.size === 0 ? undefined : Promise.all(Array.from(refreshes, refresh => refresh()))
}
