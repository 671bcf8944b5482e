// What an extra can be made of: the core reaches extras in no other way. A part is here because an extra uses it.
import type { Context } from 'koa'
import type { Command } from '../cli/command.ts'

/** One folder of lib/extras, as its line in extras.ts tells it to the core. @typeParam Whole what joins the rooms */
export interface Extra<Whole> {
  /** That of its folder. */
  readonly name: string
  /** Pages for developers below `<prefix>/-/`, made with the first request for one. */
  readonly pages?: (pipeline: Whole) => Promise<Pages>
  /** Commands of the command line. */
  readonly commands?: () => Promise<readonly Command[]>
}

/** By the name below `-/`: `live`, or the empty string for `-/` itself. */
export type Pages = Readonly<Record<string, Page>>

/** Responds to a GET or HEAD request that comes from this machine. */
export type Page = (ctx: Context) => Promise<void> | void
