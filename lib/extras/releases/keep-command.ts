// The `keep` command.
import { keep as keepFiles } from './keep.ts'
import { directoryAt, longRun, OK } from '../../publishing/cli/command.ts'
import type { Command } from '../../runtime/app/parts.ts'
import { count, formatBytes } from '../../publishing/cli/format.ts'
import { LIMIT_OPTIONS, limitsIn, MANIFEST } from './clean-command.ts'
import { GLOB_OPTIONS, summary, warnOfLarge } from './compress-command.ts'

export const keep: Command = {
  name: 'keep',
  summary: "copy an earlier build's files into a new one, for open pages",
  argument: '<old build> <new build>',
  about: `Copies the files with hashed names that a bundler's new build lacks from
its earlier build, so that a page that is open during a deploy finds the chunks that
it has yet to load. Then it compresses the new build like 'compress'. Run it after
every build, before it is served.

What was kept, and when, is in .koa-fresh-assets-kept.json of the new build. Mounts
never serve that, but send the kept files as immutable; the next run takes them
along, unless their build is neither among the last 3 (--keep) nor was replaced in
the last 7 days (--age). 'clean <dir>' removes them by the same rule.

No file of the new build is overwritten, but one that was kept and is damaged since.
A second run changes nothing, and one after Ctrl-C does the rest.

It also writes deltas (.dcz) from the old build's files to those of the new one.`,
  options: { ...LIMIT_OPTIONS, manifest: MANIFEST, ...GLOB_OPTIONS },
  examples: [
    ['koa-fresh-assets keep /srv/app/current/dist dist', 'After a build of Vite:'],
    ['koa-fresh-assets clean dist', 'Some days later:']
  ],
  run: call =>
    longRun(call, 'run it again for the rest', async run => {
      const { output, values, args } = call
      const { include, exclude, manifest } = values
      const [older = '', newer = ''] = args.map(directory => directoryAt(values, directory))
      const options = { ...run, ...limitsIn(values), manifest, include, exclude }
      const report = await keepFiles(older, newer, options)
      const { kept, bytes, builds, copied, compressed } = report
      warnOfLarge(output, compressed)
      const files = `${count(kept.length, 'file')} of ${count(builds, 'earlier build')}`
      const total = `Kept: ${files}, ${formatBytes(bytes)}; ${copied} copied`
      output.result(report, `${summary(compressed)}\n${total}`)
      return OK
    })
}
