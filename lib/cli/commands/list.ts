// The `list` command.
import { listAssets } from '../../assets/inspecting/list-assets.ts'
import { printable } from '../../printable.ts'
import { OK, type Call, type Command } from '../command.ts'
import { formatBytes, savingsText, table } from '../format.ts'

export const list: Command = {
  name: 'list',
  summary: 'list every asset with its source, size and target',
  about: `Prints a line for each asset: its plain URL path, its source, its size and the path
of the fingerprinted file. The last two come from the manifest and are missing for
assets that are not precompiled yet. Where there are deltas from earlier versions,
it says what they save.`,
  options: {},
  examples: [
    ['koa-fresh-assets list', 'What is published, and from where?'],
    ['koa-fresh-assets list | grep confetti', 'Only the assets of one package:']
  ],
  run
}

async function run({ output, loadOptions }: Call): Promise<number> {
  const assets = await listAssets(await loadOptions())
  const rows = assets.map(({ path, source, target, size, deltas }) => [
    path,
    printable(source),
    size === undefined ? '-' : formatBytes(size),
    target ?? '-',
    deltas ? savingsText(deltas) : ''
  ])
  const deltas = assets.some(asset => asset.deltas) ? 'deltas' : ''
  const heading = ['asset', 'source', 'size', 'target', deltas]
  output.result(assets, rows.length === 0 ? 'No assets found.' : table([heading, ...rows], [2]))
  return OK
}
