// Commands that a spec runs. A synchronous one would stop the other specs of its process, and the servers that they ask.
import { execFile, type ExecFileException } from 'node:child_process'
import { promisify } from 'node:util'

/** Rejects where the command fails. */
export const command = promisify(execFile)

/** Hands back what a command that fails has written as well. */
export async function outcomeOf(
  file: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {}
): Promise<{ code: number; stdout: string; stderr: string }> {
  return command(file, args, options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout = '', stderr = '' }: ExecFileException) => ({
      code: Number(code ?? 1),
      stdout,
      stderr
    })
  )
}
