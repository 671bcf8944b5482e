// One contestant in a process of its own, which reports its cost: `server.ts <name> <root> <port>`.
import { readdirSync, readFileSync } from 'node:fs'
import { contestants } from './contestants.ts'

const [name = '', root = '', port = ''] = process.argv.slice(2)
const start = contestants[name]
if (!start) throw new Error(`unknown contestant: ${name}`)
await start({ root }, Number(port))
process.send?.('ready')
process.on('message', () => {
  const children = childrenOf(process.pid)
  const { user, system } = process.cpuUsage()
  const cpu = children.reduce((sum, pid) => sum + cpuOf(pid), user + system)
  process.send?.({
    cpu,
    rss: children.length > 0 ? undefined : process.memoryUsage().rss / 2 ** 20
  })
})

/** nginx and its worker. */
function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  const lists = threads.map(thread => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'))
  const children = lists.flatMap(list => list.split(' ').filter(Boolean).map(Number))
  return children.flatMap(child => [child, ...childrenOf(child)])
}

/** @returns microseconds of processor time, for a process of one thread: proc_pid_schedstat */
function cpuOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000
}
