// S61: manifests of tens of thousands of entries.
import test from 'ava'
import { ReloadedManifest } from '../../../../lib/assets/building/manifest/read-manifest.ts'
import { serialize, type ManifestEntry } from '../../../../lib/assets/building/manifest/entries.ts'
import { settle } from '../../../../lib/assets/settings/settings.ts'
import { digestOf } from '../../../support/fingerprinted.ts'
import { costsAtMost } from '../../../support/cost.ts'
import { makeProject } from '../../../support/site.ts'

function entries(count: number, version = 0): Map<string, ManifestEntry> {
  return new Map(
    Array.from({ length: count }, (_, at) => {
      const name = `widgets/card-${at}/index`
      const entry = {
        target: `/assets/${name}-${'0'.repeat(32)}.css`,
        source: `stylesheets/${name}.css`,
        integrity: [`sha384-${'A'.repeat(64)}`],
        size: at + version
      }
      return [`/assets/${name}.css`, entry] as const
    })
  )
}

function makeManifest(...[t, files]: Parameters<typeof makeProject>) {
  const root = makeProject(t, files)
  const settings = settle({ root, env: 'production', apps: { web: {} } })
  const warnings: string[] = []
  const manifest = new ReloadedManifest(settings, message => warnings.push(message))
  const [app] = settings.apps
  if (!app) throw new Error('there is no app')
  return { root, app, manifest, warnings }
}

test.serial('S61 with 20,000 entries neither an unknown name nor a tail of all takes long', t => {
  const all = entries(20_000)
  const { manifest, app } = makeManifest(t, { 'public/assets.json': serialize(all) })
  const digesting = () => [...all.keys()].map(digestOf)
  for (const name of ['nothing-of-that-name.css', 'index.css']) {
    const asking = () => t.throws(() => manifest.current.entry(app, name))
    t.true(costsAtMost(6, asking, digesting), `${name}, and to digest the names`)
  }
})

test.serial('S61 the version of 20,000 kept entries is known before a page asks for it', t => {
  const { app, manifest } = makeManifest(t, { 'public/assets.json': serialize(entries(1)) })
  const all = [...entries(20_000)]
  const version = manifest.current.keeping(all).version
  const next = manifest.current.keeping(all.toReversed())
  next.prepare([app])
  t.is(next.version, version, 'in whatever order they come')
  // Its digest reads every entry; what is known already reads none.
  t.true(
    costsAtMost(
      0.2,
      () => next.version,
      () => manifest.current.keeping(all).version
    )
  )
  t.not(manifest.current.keeping(all.slice(0, -1)).version, version)
})

test.serial('a manifest is read in every layout', t => {
  const all = entries(500)
  const text = serialize(all, { web: { path: '/' } })
  const layouts = [
    text,
    JSON.stringify(JSON.parse(text)),
    JSON.stringify(JSON.parse(text), null, 4)
  ]
  for (const layout of layouts) {
    const { manifest } = makeManifest(t, { 'public/assets.json': layout })
    t.deepEqual(Object.fromEntries(manifest.current.assets), Object.fromEntries(all))
  }
  const small = makeManifest(t, { 'public/assets.json': serialize(new Map()) })
  t.is(small.manifest.current.assets.size, 0)
})
