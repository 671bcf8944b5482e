#!/usr/bin/env node
// The command-line program.
import { errorCode } from './files/disk.ts'
import { main } from './cli/main.ts'

// A reader that closes the pipe early, as in `koa-fresh-assets list | head`, is not an error.
process.stdout.on('error', error => {
  if (errorCode(error) !== 'EPIPE') throw error
  process.exit(0)
})

process.exitCode = await main(process.argv.slice(2))
