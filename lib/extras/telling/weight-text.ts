// Formats what a page loads as tables for people.
import { formatBytes, table } from '../../publishing/cli/format.ts'
import { originOf, type Weight } from './weight.ts'

export function weightText(weight: Weight): string {
  const { entries, files, groups, visits } = weight
  if (entries.length === 0) return 'No script or stylesheet has such a name.'
  const sections = [
    [
      ['visit', 'requests', 'br, without the page'],
      ...visits.map(each => [each.visit, String(each.requests), formatBytes(each.bytes)])
    ],
    [['package', 'br'], ...groups.map(({ path, size }) => [path, formatBytes(size)])],
    [
      ['file', 'br', ''],
      ...files.map(({ path, size, isLater, isChanged }) => {
        const notes = [isLater && 'by import()', isChanged && 'changed by the last deploy']
        return [path, formatBytes(size), notes.filter(Boolean).join(', ')]
      })
    ]
  ]
  const texts = sections.map(rows => table(rows, rows[0]?.[2]?.startsWith('br') ? [1, 2] : [1]))
  return [`${entries.join(', ')}, ${originOf(weight)}`, ...texts].join('\n\n')
}
