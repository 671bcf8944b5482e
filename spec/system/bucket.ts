// A bucket on an S3-compatible server, open to everybody, and the script of docs/deploy.md that fills it.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import S3rver from '@20minutes/s3rver'
import type { UploadPlan } from '../../lib/extras/uploads/upload-plan.ts'
import { runBuilt } from '../publishing/cli/run.ts'
import { readPart } from '../support/examples.ts'
import { ask, makeProject, open, until, writeFiles, type Answer } from '../support/index.ts'
import type { ExecutionContext, Question } from '../support/index.ts'
import { folderOf } from './installed.ts'

const [script] = readPart('docs/deploy.md').take('A bucket behind a CDN', 'js')

const NAME = 'files'

export interface Bucket {
  /** The keys that were stored, in this order. */
  readonly received: string[]
  /** Called with the key when an upload begins. */
  onUpload: (key: string) => void
  /** Anonymously. */
  ask(key: string, question?: Question): Promise<Answer>
  keys(): Promise<readonly string[]>
  /** Makes everything in it older. */
  age(hours: number): void
  /** Waits until every request that was sent is answered, those of a process that has ended as well. */
  rest(): Promise<void>
  /** Begins to upload what is precompiled in a project. */
  begin(root: string, limits?: Limits): Promise<{ plan: UploadPlan; child: ChildProcess }>
  /** Uploads it. @throws Error with what the script wrote, if it fails */
  fill(root: string, limits?: Limits): Promise<UploadPlan>
}

interface Limits {
  readonly KEEP?: string
  readonly DAYS?: string
}

/** Emitted by the server for an object that it has stored. */
interface Stored {
  readonly Records: readonly [{ readonly s3: { readonly object: { readonly key: string } } }]
}

export async function makeBucket(t: ExecutionContext): Promise<Bucket> {
  const directory = makeProject(t)
  const options = { directory, silent: true, configureBuckets: [{ name: NAME }] }
  // It leaves out the slash behind the name of a bucket where it compares signatures.
  const store = new S3rver({ ...options, allowMismatchedSignatures: true })
  await store.configureBuckets()
  const answer = store.callback()
  const plans = new Map<string, UploadPlan>()
  let pending = 0
  const server = createServer((req, res) => {
    const key = decodeURIComponent((req.url ?? '').replace(/\?.*/, '').slice(`/${NAME}/`.length))
    if (req.method === 'PUT') bucket.onUpload(key)
    pending++
    void answer(req, res).finally(() => pending--)
  })
  store.on('event', ({ Records: [{ s3 }] }: Stored) => bucket.received.push(s3.object.key))
  const connections = () =>
    new Promise<number>(resolve => server.getConnections((_, count) => resolve(count)))
  const port = await open(t, server)
  const env = {
    ...process.env,
    ...{ BUCKET: NAME, AWS_REGION: 'us-east-1', AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` },
    ...{ AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' }
  }
  const bucket: Bucket = {
    received: [],
    onUpload: () => undefined,
    ask: (key, question) => ask(port, `/${NAME}/${encodeURI(key)}`, question),
    async keys() {
      const listed = await ask(port, `/${NAME}?list-type=2`)
      return Array.from(listed.text.matchAll(/<Key>([^<]*)<\/Key>/g), ([, key = '']) => key)
    },
    age(hours) {
      for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
        const time = statSync(join(directory, name)).mtimeMs / 1000 - hours * 3600
        utimesSync(join(directory, name), time, time)
      }
    },
    async rest() {
      // Connections are accepted in their order, so this one after all others.
      await bucket.keys()
      const isOver = async () => pending === 0 && (await connections()) === 0
      await until(isOver, 'all requests are answered')
    },
    async begin(root, limits = {}) {
      // Once for a release: nothing is precompiled over it.
      if (!plans.has(root)) {
        const { stdout } = await runBuilt(root, 'upload-plan --json')
        writeFiles(root, { 'plan.json': stdout, 'upload.mjs': script?.text ?? '' })
        plans.set(root, JSON.parse(stdout) as UploadPlan)
      }
      const child = spawn(process.execPath, ['upload.mjs'], {
        cwd: root,
        env: { ...env, ...limits },
        stdio: ['ignore', 'ignore', 'pipe']
      })
      return { plan: plans.get(root) as UploadPlan, child }
    },
    async fill(root, limits) {
      const { plan, child } = await bucket.begin(root, limits)
      const said = child.stderr ? text(child.stderr) : ''
      const [status] = (await once(child, 'close')) as [number | null]
      if (status !== 0) throw new Error(await said)
      return plan
    }
  }
  return bucket
}

export function linkSdk(root: string): string {
  const sdk = '@aws-sdk/client-s3'
  mkdirSync(join(root, 'node_modules/@aws-sdk'), { recursive: true })
  symlinkSync(folderOf(sdk), join(root, 'node_modules', sdk), 'dir')
  return root
}
