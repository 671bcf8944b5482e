// Declares the commands for the directory of a build, `compress` and `keep`, and lists all of this extra.
import { type CompressReport, compress as compressDirectory } from './compress.ts'
import { keep as keepFiles } from './keep.ts'
import { clean, LIMIT_OPTIONS, limitsIn, MANIFEST, verify } from './deploy-commands.ts'
import { rows as rowsOfDeltas } from '../deltas/additions.ts'
import { EXTENSIONS } from '../../runtime/files/codings.ts'
import {
  directoryAt,
  longRun,
  count,
  formatBytes,
  formatSeconds,
  table
} from '../../publishing/cli/command.ts'
import type { Output, Command } from '../../runtime/app/extra.ts'

const GLOB_OPTIONS = {
  include: {
    value: 'GLOB',
    multiple: true,
    description: "compress only these; '**': source maps, too"
  },
  exclude: { value: 'GLOB', multiple: true, description: 'compress none of these' },
  verbose: { description: 'print a line for each file' }
} as const

const compress: Command = {
  name: 'compress',
  summary: 'write compressed copies beside the files of any directory',
  argument: '<dir>',
  about: `Writes compressed copies (${EXTENSIONS}) beside the files of a build, where
they are smaller; koaAssets and servers such as nginx send them. Each copy is
decompressed and compared with its original before it gets its name. Run it after
every build, without a configuration; what 'precompile' publishes is compressed.

A copy that fits its original stays; any other is replaced, or removed where
compression does not pay. A GLOB is for paths in the directory: 'vendor/**'.
Without a slash it is for every folder: '*.js'.

With --against it also writes deltas (.dcz) from the files of an earlier build to
those of the same name with another hash, on Node 22.19, 24.6 or newer.`,
  options: {
    ...GLOB_OPTIONS,
    against: { value: 'DIR', description: 'an earlier build, to write deltas' }
  },
  examples: [
    ['koa-fresh-assets compress dist', 'Compress the build of a front end:'],
    ['koa-fresh-assets verify dist', 'Check the copies on another machine:'],
    ['koa-fresh-assets compress dist --against dist.old', 'Deltas from the previous build:']
  ],
  run: longRun('the copies that were finished stay', async ({ output, values, args }, run) => {
    const { include, exclude } = values
    const against = values.against && directoryAt(values, values.against)
    const options = { ...run, against, include, exclude }
    const report = await compressDirectory(directoryAt(values, args[0] ?? ''), options)
    warnOfLarge(output, report)
    return output.result(report, summary(report))
  })
}

const keep: Command = {
  name: 'keep',
  summary: "copy an earlier build's files into a new one, for open pages",
  argument: '<old build> <new build>',
  about: `Copies the files with hashed names that a bundler's new build lacks from
its earlier build, so that a page that is open during a deploy finds the chunks that
it has yet to load. Then it compresses the new build like 'compress', with deltas
from the old one. Run it after every build, before it is served.

Mounts send the kept files as immutable, and the next run takes them along: those
of the last 3 builds (--keep), and of builds that were replaced in the last 7 days
(--age). 'clean <dir>' removes the others. No file of the new build is overwritten.`,
  options: { ...LIMIT_OPTIONS, manifest: MANIFEST, ...GLOB_OPTIONS },
  examples: [
    ['koa-fresh-assets keep /srv/app/current/dist dist', 'After a build of Vite:'],
    ['koa-fresh-assets clean dist', 'Some days later:']
  ],
  run: longRun('run it again for the rest', async ({ output, values, args }, run) => {
    const { include, exclude, manifest } = values
    const [older = '', newer = ''] = args.map(directory => directoryAt(values, directory))
    const options = { ...run, ...limitsIn(values), manifest, include, exclude }
    const report = await keepFiles(older, newer, options)
    const { kept, bytes, builds, copied, compressed } = report
    warnOfLarge(output, compressed)
    const files = `${count(kept.length, 'file')} of ${count(builds, 'earlier build')}`
    const total = `Kept: ${files}, ${formatBytes(bytes)}; ${copied} copied`
    return output.result(report, `${summary(compressed)}\n${total}`)
  })
}

export const commands: readonly Command[] = [compress, keep, verify, clean]

function warnOfLarge(output: Output, { tooLarge }: CompressReport): void {
  for (const path of tooLarge) output.warn(`${path} is larger than 128 MiB and was not compressed`)
}

function summary(report: CompressReport): string {
  const { files, bytes, codings, seconds, leftOut } = report
  const rows = codings.map(coding => {
    const { extension, isWritable, copies, originalBytes, written, removed } = coding
    const sizes = [copies, formatBytes(originalBytes), formatBytes(coding.bytes), written]
    return [extension, ...sizes.map(size => (isWritable ? String(size) : '-')), String(removed)]
  })
  const heading = ['', 'copies', 'before', 'after', 'written', 'removed']
  const { node } = process.versions
  const left = leftOut.every(path => path.endsWith('.map')) ? 'source map' : 'file'
  return [
    table([heading, ...rows], [1, 2, 3, 4, 5]),
    ...codings.flatMap(({ extension, isWritable }) =>
      isWritable ? [] : `Node ${node} cannot write ${extension}; 22.15 and newer can.`
    ),
    ...(leftOut.length > 0 ? [`Left out: ${count(leftOut.length, left)}`] : []),
    ...rowsOfDeltas(report).map(([name, text]) => `${name}: ${text}`),
    `${count(files, 'file')}, ${formatBytes(bytes)}, in ${formatSeconds(seconds)}`
  ].join('\n')
}
