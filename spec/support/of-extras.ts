// What extras add to the package, as long as they are there.
import * as face from '../../lib/index.ts'

export const ofExtras = face as {
  clean?: (options: object, limits: { keep: number; age: number }) => Promise<unknown>
  compress?: (directory: string) => Promise<unknown>
  keep?: (older: string, newer: string) => Promise<unknown>
  cleanKept?: (directory: string, limits: { keep: number; age: number }) => Promise<unknown>
}
