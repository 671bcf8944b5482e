// The result of a precompile, on one screen.
import type { DeltaReport, DeltaSavings } from '../assets/building/deltas/deltas.ts'
import type { PrecompileReport } from '../assets/building/precompile.ts'
import { count, formatBytes, formatSeconds, indent, table } from './format.ts'

/** @param manifest its path, as displayed */
export function summary(report: PrecompileReport, manifest: string): string {
  const { assets, bytes, compressedBytes, seconds, largest, kept } = report
  const totals = [
    ['Assets', assets.toLocaleString('en')],
    ['Bytes', formatBytes(bytes)],
    ['Compressed', formatBytes(compressedBytes)],
    ...(kept > 0 ? [['Kept', `${count(kept, 'file')} of the last build`]] : []),
    ...(report.deltas ? [['Deltas', deltasText(report.deltas)]] : []),
    ['Time', formatSeconds(seconds)],
    ['Manifest', manifest]
  ]
  const sizes = largest.map(({ path, size }) => [formatBytes(size), path])
  const parts = [table(totals), `Largest\n${indent(table(sizes, [0]))}`, changesText(report)]
  return (assets === 0 ? parts.toSpliced(1, 1) : parts).join('\n\n')
}

/** What deltas save, in one line. */
export function deltasText({ isWritable, ...savings }: DeltaReport): string {
  if (isWritable) return savingsText(savings)
  return `none: Node ${process.versions.node} cannot write them; 22.19, 24.6 and newer can`
}

export function savingsText({ files, bytes, insteadOf }: DeltaSavings): string {
  return `${count(files, 'file')}, ${formatBytes(bytes)} instead of ${formatBytes(insteadOf)}`
}

// A first build of a thousand assets need not list each of them.
const SHOWN = 10

function changesText({ changes }: PrecompileReport): string {
  const { added, changed, removed } = changes
  const all = [
    ...added.map(path => `+ ${path}`),
    ...changed.map(path => `~ ${path}`),
    ...removed.map(path => `- ${path}`)
  ]
  if (all.length === 0) return 'Nothing changed since the last build.'
  const parts = [
    [added.length, 'added'],
    [changed.length, 'changed'],
    [removed.length, 'removed']
  ].filter(([number]) => number !== 0)
  const heading = parts.map(([number, verb]) => `${number} ${verb}`).join(', ')
  const rest = all.length > SHOWN ? [`and ${all.length - SHOWN} more`] : []
  const lines = [...all.slice(0, SHOWN), ...rest].join('\n')
  return `Since the last build: ${heading}\n${indent(lines)}`
}
