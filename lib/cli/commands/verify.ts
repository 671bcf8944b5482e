// The `verify` command.
import { verify as compare } from '../../assets/building/verify.ts'
import { OK, FAILED, type Call, type Command } from '../command.ts'
import { count } from '../format.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'compare the files in public with the manifest',
  about: `Reads every file that the manifest names and checks that it exists, that its size,
the digest in its name and its Subresource Integrity are correct, that the plain
name has the same content, and that the compressed copies decompress to it. Prints
a line for each problem, and writes nothing.

Run it after copying public to another machine, or when a page looks wrong.
'precompile' fixes what it finds.`,
  options: {},
  examples: [['koa-fresh-assets verify', 'Fail a deployment when a file was lost on the way:']],
  run
}

async function run({ output, loadOptions }: Call): Promise<number> {
  const report = await compare(await loadOptions())
  const { assets, problems } = report
  if (output.isJson) output.json(report)
  else for (const { path, message } of problems) output.error(`${path} ${message}`)
  const result = problems.length === 0 ? 'no problems' : count(problems.length, 'problem')
  output.print(`${count(assets, 'asset')}, ${result}`)
  return problems.length === 0 ? OK : FAILED
}
