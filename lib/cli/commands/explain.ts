// The `explain` command.
import { explain as resolve, type Explanation } from '../../assets/inspecting/explain.ts'
import { printable } from '../../printable.ts'
import { OK, FAILED, type Call, type Command } from '../command.ts'

export const explain: Command = {
  name: 'explain',
  summary: 'show step by step how a URL or a name is resolved',
  argument: '<url or name>',
  about: `Follows a path from the request to the response: whether it is an asset path,
which app it belongs to, which directories are searched and what they contain,
what view helpers emit, and which file is sent with which headers. Use it when an
asset is missing or unexpected.

The environment is that of NODE_ENV or --env, by default development. Nothing is
written. The exit status is 1 when the response is not a file.`,
  options: {},
  examples: [
    ['koa-fresh-assets explain /assets/app.css', 'Where does this stylesheet come from?'],
    ['koa-fresh-assets explain app.css --env production', 'And in production?']
  ],
  run
}

async function run({ output, loadOptions, args: [asked = ''] }: Call): Promise<number> {
  const explanation = await resolve(asked, await loadOptions('development'))
  output.result(explanation, format(explanation))
  return explanation.isFound ? OK : FAILED
}

const WIDTH = 10

function format({ steps, outcome }: Explanation): string {
  const lines = steps.map(({ subject, finding, details }) =>
    [
      subject.padEnd(WIDTH) + printable(finding),
      ...details.map(line => ' '.repeat(WIDTH) + printable(line))
    ].join('\n')
  )
  return [...lines, 'response'.padEnd(WIDTH) + outcome].join('\n')
}
