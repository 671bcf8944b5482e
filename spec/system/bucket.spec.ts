// Files in a bucket: uploads by the script of docs/deploy.md, and a rolling deploy of replicas that name it.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { UploadPlan } from '../../lib/extras/uploads/upload-plan.ts'
import { makeProject, placed, run, test, viteBuild, viteMount } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'
import { linkSdk, makeBucket, type Bucket } from './bucket.ts'

const LARGE = 'a large file '.repeat(400_000)

async function precompiled(t: ExecutionContext, release: number): Promise<string> {
  const numbered = Array.from({ length: 20 }, (_, at) => [`js/${at}.js`, `file(${at})`] as const)
  const root = makeProject(t, {
    ...placed({
      ...Object.fromEntries(numbered),
      'js/app.js': `release(${release});`.repeat(100),
      'css/app.css': 'p { color: black } '.repeat(100),
      'large.bin': `${release} ${LARGE}`,
      'größe 1.svg': '<svg/>'
    }),
    ...viteBuild('dist', { 'main.js': 'main-CZTearZk.js' }),
    'dist/robots.txt': 'robots',
    'assets.config.mjs': `export default { host: 'https://cdn.example.com', mounts: { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } } }`
  })
  await run({ root, mounts: { '/static': viteMount() } })
  return linkSdk(root)
}

type File = UploadPlan['files'][number]

const identityOf = ({ files }: UploadPlan) => files.filter(({ encoding }) => !encoding)

async function checkWhole(t: ExecutionContext, bucket: Bucket, root: string, plan: UploadPlan) {
  for (const { key, file, type, cacheControl } of identityOf(plan)) {
    const { status, bytes, headers } = await bucket.ask(key)
    t.is(status, 200, key)
    t.true(bytes.equals(readFileSync(join(root, file))), key)
    t.deepEqual([headers['content-type'], headers['cache-control']], [type, cacheControl], key)
  }
}

test('an upload that was killed in the middle of a large file sends what is missing when it runs again', async t => {
  const [bucket, root] = [await makeBucket(t), await precompiled(t, 1)]
  const { child } = await bucket.begin(root)
  const killed = once(child, 'close')
  bucket.onUpload = key => void (key.includes('large') && child.kill('SIGKILL'))
  t.deepEqual(await killed, [null, 'SIGKILL'])
  bucket.onUpload = () => undefined
  await bucket.rest()
  t.false((await bucket.keys()).some(key => key.startsWith('releases/')))
  const before = bucket.received.length
  const plan = await bucket.fill(root)
  t.true(bucket.received.length > before)
  const release = `releases/${plan.release}.json`
  const sent = bucket.received.filter(key => key !== release)
  const keys = identityOf(plan).map(({ key }) => key)
  t.deepEqual(sent.toSorted(), keys.toSorted())
  t.is(bucket.received.at(-1), release)
  await checkWhole(t, bucket, root, plan)
  const { text } = await bucket.ask(release)
  t.deepEqual((JSON.parse(text) as UploadPlan).files, plan.files)
})

test('an upload replaces only files whose bytes or fields differ in the bucket', async t => {
  const [bucket, root] = [await makeBucket(t), await precompiled(t, 1)]
  const plan = await bucket.fill(root)
  bucket.received.length = 0
  await bucket.fill(root)
  t.deepEqual(bucket.received, [`releases/${plan.release}.json`])
  const [one, two] = identityOf(plan) as [File, File]
  const fields = { 'content-type': one.type, 'cache-control': one.cacheControl }
  await put(bucket, one.key, 'other', fields)
  const bytes = readFileSync(join(root, two.file), 'utf8')
  await put(bucket, two.key, bytes, { 'x-amz-meta-sha256': two.sha256 })
  bucket.received.length = 0
  await bucket.fill(root)
  t.deepEqual(bucket.received.slice(0, -1).toSorted(), [one.key, two.key].toSorted())
  await checkWhole(t, bucket, root, plan)
})

async function put(bucket: Bucket, key: string, body: string, fields = {}): Promise<void> {
  const headers = { 'content-length': Buffer.byteLength(body), ...fields }
  await bucket.ask(key, { method: 'PUT', body, headers })
}

test('files that no kept release needs are removed from the bucket, also after a rollback', async t => {
  const bucket = await makeBucket(t)
  const roots = [await precompiled(t, 1), await precompiled(t, 2), await precompiled(t, 3)] as const
  const limits = { KEEP: '2', DAYS: '0.01' }
  const plans: UploadPlan[] = []
  const has = async (plan: UploadPlan) => {
    const keys = new Set(await bucket.keys())
    return identityOf(plan).every(({ key }) => keys.has(key))
  }
  for (const root of roots) {
    plans.push(await bucket.fill(root, limits))
    bucket.age(1)
  }
  const [first, second, third] = plans as [UploadPlan, UploadPlan, UploadPlan]
  t.deepEqual([await has(first), await has(second), await has(third)], [false, true, true])
  bucket.received.length = 0
  await bucket.fill(roots[1], limits)
  t.is(bucket.received.length, 1, 'a rollback sends nothing')
  bucket.age(1)
  await bucket.fill(roots[0], limits)
  t.deepEqual([await has(first), await has(second), await has(third)], [true, true, false])
  const lists = (await bucket.keys()).filter(key => key.startsWith('releases/'))
  t.is(lists.length, 2)
  bucket.age(1)
  // Its files are hours old, but it is a release of the last minutes.
  await bucket.fill(roots[1], limits)
  await put(bucket, 'assets/of-another-deploy.js', 'so far')
  await bucket.fill(roots[2], { KEEP: '1', DAYS: '0.01' })
  t.deepEqual([await has(first), await has(second), await has(third)], [false, true, true])
  t.true((await bucket.keys()).includes('assets/of-another-deploy.js'))
})
