// The live channel in the page. These scripts run as they are in every browser that has modules. This one
// imports nothing at first: of what was loaded before it runs, browsers remember 250 resources.

/** @type {PerformanceResourceTiming[]} */
const loaded = []
let notify = () => {}

new PerformanceObserver(list => {
  loaded.push(.../** @type {PerformanceResourceTiming[]} */ (list.getEntries()))
  notify()
}).observe({ type: 'resource', buffered: true })

/** @param {(entries: PerformanceResourceTiming[]) => void} listener receives what was loaded before as well */
export function onLoaded(listener) {
  notify = () => listener(loaded.splice(0))
  notify()
}

void import('./live-channel.js')
