// The command `list`.
import { listAssets } from '../../assets/inspecting/list-assets.ts'
import { printable } from '../../printable.ts'
import { FINE, type Call, type Command } from '../command.ts'
import { formatBytes, table } from '../format.ts'

export const list: Command = {
  name: 'list',
  summary: 'print every asset with its source, its target and its size',
  about: `Prints a line for each asset: its plain URL path, the source that it is made from,
its size and the path of the fingerprinted file. The last two come from the
manifest and are missing for what was not precompiled yet.`,
  options: {},
  examples: [
    ['koa-fresh-assets list', 'What is published, and from where?'],
    ['koa-fresh-assets list | grep confetti', 'Everything of one package:']
  ],
  run
}

async function run({ output, loadOptions }: Call): Promise<number> {
  const assets = await listAssets(await loadOptions())
  if (output.isJson) output.json(assets)
  const rows = assets.map(({ path, source, target, size }) => [
    path,
    printable(source),
    size === undefined ? '-' : formatBytes(size),
    target ?? '-'
  ])
  const heading = ['asset', 'source', 'size', 'target']
  output.say(rows.length === 0 ? 'There are no assets here.' : table([heading, ...rows], [2]))
  return FINE
}
