// The command `verify`.
import { verify as compare } from '../../assets/building/verify.ts'
import { FINE, FOUND_SOMETHING, type Call, type Command } from '../command.ts'
import { count } from '../format.ts'

export const verify: Command = {
  name: 'verify',
  summary: 'compare what lies in public with the manifest',
  about: `Reads every file that the manifest names and checks that it is there, that its
size, the checksum in its name and its Subresource Integrity are right, that the
plain name holds the same bytes, and that the compressed copies decompress to
them. Each problem is a line; nothing is written.

Run it after copying public to another machine, or when a page looks wrong.
'precompile' mends what it finds.`,
  options: {},
  examples: [['koa-fresh-assets verify', 'Let a deploy fail when a file was lost on the way:']],
  run
}

async function run({ output, loadOptions }: Call): Promise<number> {
  const report = await compare(await loadOptions())
  const { assets, problems } = report
  if (output.isJson) output.json(report)
  else for (const { path, message } of problems) output.error(`${path} ${message}`)
  const found = problems.length === 0 ? 'all as they should be' : count(problems.length, 'problem')
  output.say(`${count(assets, 'asset')}, ${found}`)
  return problems.length === 0 ? FINE : FOUND_SOMETHING
}
