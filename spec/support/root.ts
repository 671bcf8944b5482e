// Specs that mount disks: an ordinary user's run lists them as skipped, by name.
import { test as ava } from './test.ts'

/** One after the other. */
export const asRoot = process.getuid?.() === 0 ? ava.serial : ava.serial.skip
