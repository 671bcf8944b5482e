// The commands: of a new project, then in the order of a deployment.
import type { Command } from '../command.ts'
import { clean } from './clean.ts'
import { compress } from './compress.ts'
import { explain } from './explain.ts'
import { init } from './init.ts'
import { list } from './list.ts'
import { precompile } from './precompile.ts'
import { verify } from './verify.ts'

export const COMMANDS: readonly Command[] = [
  init,
  precompile,
  compress,
  verify,
  clean,
  explain,
  list
]
