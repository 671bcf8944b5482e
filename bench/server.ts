// One contestant in a process of its own, which reports its cost: `server.ts <name> <root> <port>`.
import { contestants } from './contestants.ts'

const [name = '', root = '', port = ''] = process.argv.slice(2)
const start = contestants[name]
if (!start) throw new Error(`unknown contestant: ${name}`)
await start({ root }, Number(port))
process.send?.('ready')
process.on('message', () => {
  process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss })
})
