// Declares what another extra adds to the live channel.
import type { AssetState } from './page-state.ts'

/** An extra whose running part has these members stands on this one. */
export interface Following {
  /** Is called with the states of what pages use, before pages are told. @param paths of pages that were told before */
  look(states: ReadonlyMap<string, AssetState | undefined>, paths: ReadonlySet<string>): void
  /** The tick of the latest edit; a page is told what has happened since the tick that it knows. */
  readonly tick: number
  /** The channel sets it, to be called when there is something to tell that is no edit. */
  onNews?: () => void
  /** Returns what a page is told beside the state; undefined if nothing happened. It can be written as JSON. */
  since(tick: number): object | undefined
}

export function followingIn(running: readonly object[]): Following | undefined {
  return running.flatMap(each => ('following' in each ? (each.following as Following) : []))[0]
}
