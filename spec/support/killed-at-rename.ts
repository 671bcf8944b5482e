// A process that is killed when it has written a file, before it gives it its name.
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'

fs.rename = () => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}
syncBuiltinESMExports()
