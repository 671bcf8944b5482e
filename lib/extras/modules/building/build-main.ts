// The process that builds packages: it gets a job, and sends its outcome.
import { build } from './build-process.ts'

process.once('disconnect', () => process.exit())
process.once('message', job => {
  void build(job as Parameters<typeof build>[0]).then(outcome => process.send?.(outcome))
})
