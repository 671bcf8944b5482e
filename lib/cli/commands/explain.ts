// The command `explain`.
import { explain as resolve } from '../../assets/inspecting/explain.ts'
import type { Explanation } from '../../assets/inspecting/explanation.ts'
import { printable } from '../../printable.ts'
import { FINE, FOUND_SOMETHING, type Call, type Command } from '../command.ts'

export const explain: Command = {
  name: 'explain',
  summary: 'tell how a URL or a name is resolved, step by step',
  argument: '<url or name>',
  about: `Follows a path from the request to the answer: whether it is ours at all, which app
it belongs to, which directories are searched and what they have, what is made of
the source, what view helpers emit, which file lies in public and with which
headers it is sent. Use it when an asset is not found, or not the one you meant.

It looks at the environment of NODE_ENV, development by default; --env picks
another. Nothing is written. The exit status is 1 when no file answers.`,
  options: {},
  examples: [
    ['koa-fresh-assets explain /assets/app.css', 'Where does this stylesheet come from?'],
    ['koa-fresh-assets explain app.css --env production', 'And in production?']
  ],
  run
}

async function run({ output, loadOptions, argument = '' }: Call): Promise<number> {
  const explanation = await resolve(argument, await loadOptions())
  if (output.isJson) output.json(explanation)
  output.say(format(explanation))
  return explanation.isFound ? FINE : FOUND_SOMETHING
}

const WIDTH = 10

function format({ steps, outcome }: Explanation): string {
  const told = steps.map(({ subject, finding, details }) =>
    [
      subject.padEnd(WIDTH) + printable(finding),
      ...details.map(line => ' '.repeat(WIDTH) + printable(line))
    ].join('\n')
  )
  return [...told, 'answer'.padEnd(WIDTH) + outcome].join('\n')
}
