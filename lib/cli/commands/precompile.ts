// The command `precompile`: its face. The work is in assets/precompile.ts.
import { constants } from 'node:os'
import { relative } from 'node:path'
import { isInside } from '../../files/disk.ts'
import { errorReport } from '../../assets/inspecting/error-page.ts'
import type { KoaAssetsOptions } from '../../assets/settings/options.ts'
import { precompile as build, PrecompileError } from '../../assets/building/precompile.ts'
import { settleForPrecompile } from '../../assets/settings/settings.ts'
import { printable } from '../../printable.ts'
import { FINE, FOUND_SOMETHING, type Call, type Command } from '../command.ts'
import { count, indent } from '../format.ts'
import type { Output } from '../output.ts'
import { makeProgress } from '../progress.ts'
import { summary } from '../summary.ts'

export const precompile: Command = {
  name: 'precompile',
  summary: 'build every asset for production: checksum names, compressed copies',
  about: `Compiles or copies every asset of every app and third-party package into public,
under its plain name and under one that bears the checksum of its content, with
compressed copies (.br, .gz, .zst) where they pay, and writes the manifest
public/assets.json last. Run it in every deploy, before the application starts.

With --minify, or the option minify, stylesheets and scripts are made smaller, each
with a source map that leads back to what you wrote (app.css.map); *.min.css and
*.min.js stay as they are.

What did not change is not written again. What earlier deploys published stays,
so that pages which are open now keep working; 'clean' prunes it. Plain names and
the manifest are replaced together at the end: when a source is broken, or Ctrl-C
is pressed before that, all of them stay as they were.

It builds for production, unless NODE_ENV or --env says otherwise.`,
  options: {
    minify: {
      type: 'boolean',
      says: 'smaller CSS and JavaScript, with source maps (needs esbuild)'
    },
    verbose: { type: 'boolean', says: 'a line for each asset' }
  },
  examples: [
    ['koa-fresh-assets precompile', 'Build the project in this directory:'],
    ['koa-fresh-assets precompile --minify', 'Make stylesheets and scripts smaller, too:'],
    ['koa-fresh-assets precompile --json > report.json', 'Keep a report:']
  ],
  run: call => untilInterrupted(call.output, signal => run(call, signal))
}

async function run({ output, loadOptions, values }: Call, signal: AbortSignal): Promise<number> {
  const options = await loadOptions()
  const progress = makeProgress(output, values.flag('verbose'))
  const warn = (text: string) => progress.interrupt(() => output.warn(text))
  try {
    const minify = values.flag('minify') || undefined
    const report = await build(options, { onProgress: progress.update, minify, signal, warn })
    progress.end()
    if (output.isJson) output.json(report)
    output.say(summary(report, fromHere(report.manifest)))
    return FINE
  } catch (error) {
    progress.end()
    if (!(error instanceof PrecompileError)) throw error
    output.error(await format(error, options))
    return FOUND_SOMETHING
  }
}

/** A path below this directory is shown from here. */
function fromHere(path: string): string {
  return isInside(process.cwd(), path) ? relative(process.cwd(), path) : path
}

/** Every broken source, with the place and the lines at fault. */
async function format({ problems }: PrecompileError, options: KoaAssetsOptions): Promise<string> {
  const settings = settleForPrecompile(options)
  const explained = await Promise.all(problems.map(problem => errorReport(problem, settings)))
  const told = explained.map(({ place, reason, excerpt }) => {
    const heading = [printable(place), reason].filter(Boolean).join(': ')
    return excerpt ? `${heading}\n\n${indent(excerpt, '    ')}\n` : heading
  })
  const verdict = `Precompile failed with ${count(problems.length, 'error')}; nothing was published.`
  return `${told.join('\n')}\n${verdict}`
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** The first signal ends the work in good order, the second one the process. */
async function untilInterrupted(
  output: Output,
  work: (signal: AbortSignal) => Promise<number>
): Promise<number> {
  const controller = new AbortController()
  const stop = (name: NodeJS.Signals) => controller.abort(name)
  for (const name of SIGNALS) process.once(name, stop)
  try {
    return await work(controller.signal)
  } catch (error) {
    const { reason } = controller.signal as { reason?: NodeJS.Signals }
    if (reason === undefined || error !== reason) throw error
    output.error(`Stopped by ${reason}; nothing was published.`)
    // As shells do it.
    return 128 + constants.signals[reason]
  } finally {
    for (const name of SIGNALS) process.off(name, stop)
  }
}
