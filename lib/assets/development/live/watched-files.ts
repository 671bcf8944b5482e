// The files of the option `live.watch`: all of them together have one version.
import { join } from 'node:path'
import { inParallel } from '../../../concurrency.ts'
import { SetDigester } from '../../../files/digest.ts'
import { statOf } from '../../../files/disk.ts'
import type { Settings } from '../../settings/settings.ts'
import { Tree } from '../../sources/tree.ts'
import type { Part } from './page-state.ts'

const CONCURRENCY = 16

export class WatchedFiles {
  readonly #trees: readonly Tree[]
  #part: Part = { key: 'live.watch', version: null, changedAt: 0 }
  #isDue = true

  /** @param onEvent is called when a file may have changed */
  constructor({ live, symlinks }: Settings, onEvent: () => void) {
    const onTreeEvent = () => {
      this.distrust()
      onEvent()
    }
    const directories = live?.watch ?? []
    this.#trees = directories.map(directory => new Tree(directory, symlinks, onTreeEvent))
  }

  /** For a change that no event has reported: the next look is at every file. */
  distrust(): void {
    this.#isDue = true
  }

  /** Looks at every file, unless nothing was reported since the last look. */
  async current(): Promise<Part> {
    await Promise.all(this.#trees.map(tree => tree.refresh()))
    if (!this.#isDue) return this.#part
    this.#isDue = false
    const files = this.#trees.flatMap(tree =>
      [...tree.files(), ...tree.partials()].map(path => join(tree.directory, path))
    )
    const all = new SetDigester()
    let changedAt = 0
    await inParallel(files, CONCURRENCY, async file => {
      const stats = await statOf(file)
      if (!stats) return
      all.add([file, stats.ino, stats.size, stats.mtimeNs].join('\n'))
      changedAt = Math.max(changedAt, Number(stats.mtimeNs / 1_000_000n))
    })
    this.#part = { ...this.#part, version: all.finish(), changedAt }
    return this.#part
  }
}
