// A page of the live channel without a browser: what it is told, over a socket of its own.
import { request, type IncomingMessage } from 'node:http'
import type { ExecutionContext } from 'ava'
import type { Part, Problem } from '../../lib/assets/development/live/page-state.ts'
import { until } from './until.ts'

export interface Told {
  readonly parts: readonly (Part & { readonly isLate: boolean })[]
  readonly problems: readonly Problem[]
}

export interface Tab {
  readonly answer: IncomingMessage
  /** Everything that came, as it came. */
  readonly text: () => string
  readonly told: () => readonly Told[]
  /** The next message after those that were told when this is called. */
  readonly next: () => Promise<Told>
  /** The version of an asset as it was told last. */
  readonly version: (key: string) => string | null | undefined
  readonly close: () => void
}

/** @param query `use=…&age=…` */
export async function openTab(t: ExecutionContext, port: number, query = ''): Promise<Tab> {
  const asking = request({ host: '127.0.0.1', port, path: `/assets/-/live?${query}`, agent: false })
  const close = () => void asking.destroy()
  t.teardown(close)
  // Its end is the closed tab.
  asking.on('error', () => undefined)
  const answer = await new Promise<IncomingMessage>(resolve => {
    asking.on('response', resolve)
    asking.end()
  })
  let text = ''
  answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  answer.on('error', () => undefined)
  const told = () =>
    [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, json = '']) => JSON.parse(json) as Told)
  return {
    answer,
    text: () => text,
    told,
    async next() {
      const { length } = told()
      await until(() => told().length > length, 'the page is told something')
      return told().at(-1) as Told
    },
    version: key =>
      told()
        .at(-1)
        ?.parts.find(part => part.key === key)?.version,
    close
  }
}
