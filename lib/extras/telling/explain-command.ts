// The `explain` command.
import { explain as resolve } from './explain.ts'
import { OK, FAILED } from '../../publishing/cli/command.ts'
import { projectOf } from '../../publishing/cli/config.ts'
import type { Command } from '../../runtime/app/parts.ts'
import { table } from '../../publishing/cli/format.ts'
import { helpAt } from '../../runtime/errors.ts'

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
  async run(call) {
    const { output } = call
    const [asked = ''] = call.args
    const explanation = await resolve(asked, await projectOf(call, 'development'))
    const { steps, outcome, isFound, verdict } = explanation
    const reason = verdict?.reason === undefined ? [] : [['', verdict.reason]]
    const advice = reason.length > 0 ? 'errors.md' : 'troubleshooting.md#a-404'
    const lines = steps.flatMap(({ subject, finding, details }) => [
      [subject, finding],
      ...details.map(detail => ['', detail])
    ])
    const help = isFound ? [] : [['help', helpAt(advice)]]
    output.result(explanation, table([...lines, ['response', outcome], ...reason, ...help]))
    return isFound ? OK : FAILED
  }
}
