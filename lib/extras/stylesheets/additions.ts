// Adds joined stylesheets to the report of the command `precompile`.
import { count } from '../../publishing/cli/format.ts'
import type { SheetRow } from './options.ts'

export function rowsOf({ sheets }: SheetRow): (readonly [heading: string, text: string])[] {
  if (!sheets) return []
  const { files, imports, problem } = sheets
  const done = `${count(imports, '@import')} in ${count(files, 'file')}`
  return [['Stylesheets', problem === undefined ? done : `none is joined: ${problem}`]]
}
