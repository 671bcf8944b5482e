// Precompiles in a process of its own, which a spec may kill or put under a limit.
// Argument: the project's root. Exit status 1 and the message on stderr when it fails.
import { precompile } from '../../lib/assets/precompile.ts'

async function main(root: string): Promise<void> {
  let begun = false
  await precompile(
    { root },
    {
      warn: message => console.error(message),
      onProgress() {
        if (!begun) console.log('begun')
        begun = true
      }
    }
  )
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
})
