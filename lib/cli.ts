#!/usr/bin/env node
// The command: what was typed in, an exit status out.
import { errorCode } from './files/disk.ts'
import { main } from './cli/main.ts'

// A reader that has enough, as in `koa-fresh-assets list | head`, is no failure.
process.stdout.on('error', error => {
  if (errorCode(error) !== 'EPIPE') throw error
  process.exit(0)
})

process.exitCode = await main(process.argv.slice(2))
