// How temporary files and locks name a process: read here from /proc, field by field.
import { readFileSync, readlinkSync } from 'node:fs'
import { digestOf } from './fingerprinted.ts'

export function ownerOf(pid: number): string {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
  const space = digestOf(`${boot} ${readlinkSync('/proc/self/ns/pid')}`).slice(0, 8)
  const start = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')[19]
  return `${space}-${pid}-${start}`
}
