// A project that the soak edits, and the processes that serve it.
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { fillDisk } from '../../support/changes.ts'
import { assetAt, bodyOf, writeVersion } from '../../support/versions.ts'
import { Replica } from './replicas.ts'
import { Spells, Subject } from './truth.ts'

export interface SiteSetup {
  readonly name: string
  readonly options: KoaAssetsOptions
  /** Tells the files of one site from those of another. */
  readonly number: number
}

export type Place = 'sources' | 'mount' | 'folder' | 'data' | 'public' | 'notes'

interface Layout {
  readonly url: string
  readonly directory: string
  readonly from: number
  readonly count: number
}

const LAYOUTS: Readonly<Record<Place, Layout>> = {
  sources: { url: '/assets/', directory: '', from: 4, count: 40 },
  mount: { url: '/static/', directory: 'build', from: 101, count: 20 },
  folder: { url: '/static/chunks/', directory: 'build/chunks', from: 201, count: 8 },
  data: { url: '/files/', directory: 'data', from: 301, count: 12 },
  public: { url: '/', directory: 'public', from: 401, count: 12 },
  notes: { url: '/notes/', directory: 'notes', from: 505, count: 8 }
}
/** Sources that are neither broken nor removed: pages refer to them. */
const STABLE = 6

export class Site {
  readonly setup: SiteSetup
  readonly root: string
  readonly subjects: Readonly<Record<Place, readonly Subject[]>>
  readonly replicas: readonly [steady: Replica, restarted: Replica]
  readonly isPrecompiled: boolean
  /** A look at the disk may be this old, in milliseconds. */
  readonly trusted: number
  /** What the applications reported, and what the soak did that explains such a report. */
  readonly errors: string[] = []
  readonly full = new Spells()
  readonly brokenNames = new Set<string>()

  constructor(setup: SiteSetup) {
    this.setup = setup
    this.isPrecompiled = setup.name === 'production'
    // `revalidate` is a second; what was looked at is held from the end of that look on.
    this.trusted = this.isPrecompiled ? 1500 : 0
    this.root = realpathSync(mkdtempSync(join(tmpdir(), `koa-fresh-assets-${setup.name}-`)))
    // Each body is compared with its source.
    writeFileSync(join(this.root, 'assets.config.json'), '{ "minify": false }')
    for (const { directory } of Object.values(LAYOUTS))
      mkdirSync(join(this.root, directory), { recursive: true })
    const places = Object.keys(LAYOUTS) as Place[]
    this.subjects = Object.fromEntries(
      places.map(place => [place, this.#subjectsOf(place)])
    ) as Record<Place, Subject[]>
    const options = { ...setup.options, root: this.root, mounts: { '/static': 'build' } }
    const names = this.stable.map(({ at }) => assetAt(at).name)
    const replica = (isBehind: boolean) => new Replica({ options, isBehind, names }, this.errors)
    this.replicas = [replica(false), replica(true)]
  }

  get stable(): readonly Subject[] {
    return this.subjects.sources.slice(0, STABLE)
  }

  #subjectsOf(place: Place): Subject[] {
    const { url, directory, from, count } = LAYOUTS[place]
    const numbers = Array.from({ length: count }, (_, at) => this.setup.number * 1000 + from + at)
    return numbers
      .filter(at => place === 'sources' || at % 4 !== 0)
      .map(at => {
        const { name, source } = assetAt(at)
        const file = place === 'sources' ? join('apps/web/assets', source) : join(directory, name)
        return new Subject(at, url + name, join(this.root, file))
      })
  }

  /** The first version of everything. */
  populate(): void {
    const { sources, ...others } = this.subjects
    for (const subject of Object.values(others).flat()) this.replace(subject)
    for (const subject of sources) this.replaceSource(subject)
  }

  /** Another file under its name; a third of them with a date of long ago. */
  replace(subject: Subject): void {
    const version = subject.latest + 1
    const temporary = join(dirname(subject.file), '.being-written')
    writeFileSync(temporary, bodyOf(subject.at, version))
    if (version % 3 === 2) utimesSync(temporary, 1e9, 1e9 + subject.at)
    subject.expect(version)
    renameSync(temporary, subject.file)
    subject.settle()
  }

  replaceSource(subject: Subject): void {
    const version = subject.latest + 1
    subject.expect(version)
    writeVersion(this.root, subject.at, version)
    subject.settle()
  }

  /** A source that the next deploy publishes: until that has ended, either version may be there. */
  editBeforeDeploy(subject: Subject): void {
    subject.expect(subject.latest + 1)
    writeVersion(this.root, subject.at, subject.latest)
  }

  /** Other bytes in the same file. */
  overwrite(subject: Subject): void {
    const version = subject.latest + 1
    subject.overwritten.begin()
    subject.expect('empty')
    subject.expect(version)
    writeFileSync(subject.file, bodyOf(subject.at, version))
    subject.settle()
    subject.overwritten.end()
  }

  remove(subject: Subject): void {
    subject.expect('absent')
    rmSync(subject.file, { force: true })
    rmSync(`${subject.file}.gz`, { force: true })
    subject.settle()
  }

  /** A source that does not compile. */
  break(subject: Subject): void {
    this.brokenNames.add(assetAt(subject.at).name)
    subject.expect('broken')
    writeFileSync(subject.file, `a { b: ${subject.latest} `)
    subject.settle()
  }

  /** A compressed copy: right, of an earlier version, or cut short. */
  compress(subject: Subject, how: number): void {
    const copy = gzipSync(bodyOf(subject.at, Math.max(0, subject.latest - (how % 3 === 1 ? 1 : 0))))
    writeFileSync(`${subject.file}.gz`, how % 3 === 2 ? copy.subarray(0, copy.length / 2) : copy)
  }

  /** A folder of new versions in place of the old one, as a build tool leaves it. */
  swapFolder(): void {
    const { folder } = this.subjects
    const directory = join(this.root, LAYOUTS.folder.directory)
    rmSync(`${directory}.next`, { recursive: true, force: true })
    mkdirSync(`${directory}.next`)
    for (const { at, latest } of folder)
      writeFileSync(join(`${directory}.next`, assetAt(at).name), bodyOf(at, latest + 1))
    for (const subject of folder) {
      subject.expect('absent')
      subject.expect(subject.latest + 1)
    }
    renameSync(directory, `${directory}.last`)
    renameSync(`${directory}.next`, directory)
    for (const subject of folder) subject.settle()
    rmSync(`${directory}.last`, { recursive: true })
  }

  /** Takes what is left of the disk that `public` is on. */
  fill(): void {
    this.full.begin()
    fillDisk(join(this.root, 'public/.filler'))
  }

  free(): void {
    rmSync(join(this.root, 'public/.filler'))
    this.full.end()
  }
}
