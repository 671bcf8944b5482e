// These scripts run in every browser that has modules. This one is early: browsers remember only 250 resources.
// oxlint-disable-next-line import/no-unassigned-import -- it only listens
import './live-console.js'

/** @typedef {(entries: PerformanceResourceTiming[]) => void} Follow */

/** @type {PerformanceResourceTiming[]} */
const early = []
/** @type {Follow | undefined} */
let follow

new PerformanceObserver(list => {
  const entries = /** @type {PerformanceResourceTiming[]} */ (list.getEntries())
  if (follow) follow(entries)
  else early.push(...entries)
}).observe({ type: 'resource', buffered: true })

void import('./live-channel.js').then(channel => {
  follow = channel.follow
  return channel.begin(early)
})
