// A page of the live channel without a browser: what it is told, over a socket of its own.
import { request, type IncomingMessage } from 'node:http'
import type { Part, LinkedReport } from '../../../lib/extras/live/page-state.ts'
import { until, type ExecutionContext } from '../../support/index.ts'

export interface Told {
  readonly parts: readonly (Part & { readonly isLate: boolean })[]
  readonly problems: readonly LinkedReport[]
  readonly notes: readonly string[]
}

export type Tab = Awaited<ReturnType<typeof openTab>>

/** @param query `use=…,…&age=…` */
export async function openTab(t: ExecutionContext, port: number, query = '') {
  const lines = query.replaceAll(',', '%0A')
  const asking = request({ host: '127.0.0.1', port, path: `/assets/-/live?${lines}`, agent: false })
  const all: Told[] = []
  const close = () => {
    asking.destroy()
    all.length = 0
  }
  t.teardown(close)
  // Its end is the closed tab.
  asking.on('error', () => undefined)
  const answer = await new Promise<IncomingMessage>(resolve => {
    asking.on('response', resolve)
    asking.end()
  })
  let rest = ''
  answer.setEncoding('utf8').on('data', (chunk: string) => {
    const events = (rest + chunk).split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events)
      if (event.startsWith('data: ')) all.push(JSON.parse(event.slice(6)) as Told)
  })
  answer.on('error', () => undefined)
  return {
    answer,
    told: (): readonly Told[] => all,
    /** The next message after those that were told when this is called. */
    async next() {
      const { length } = all
      await until(() => all.length > length, 'the page is told something')
      return all.at(-1) as Told
    },
    /** The version of an asset as it was told last. */
    version: (key: string) => all.at(-1)?.parts.find(part => part.key === key)?.version,
    close
  }
}

/** A tab that has been told something. */
export async function openTold(...args: Parameters<typeof openTab>): Promise<Tab> {
  const tab = await openTab(...args)
  await until(() => tab.told().length > 0, 'the first message')
  return tab
}
