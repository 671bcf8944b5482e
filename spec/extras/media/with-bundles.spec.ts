// Images of a bundle.
import test from 'ava'
import { pagesOf } from '../../support/bundler-project.ts'
import { makeProject } from '../../support/site.ts'
import { IMAGES } from '../../support/images.ts'

const FILE = 'assets/hero-B1a2C3d4.png'

test('BND-13 image() finds a file by its source, and has its size', async t => {
  const root = makeProject(t, {
    'dist/.vite/manifest.json': JSON.stringify({
      'src/hero.png': { file: FILE, src: 'src/hero.png' },
      'src/main.js': { file: 'assets/main-C1b2A3d4.js', src: 'src/main.js', isEntry: true }
    }),
    'dist/assets/main-C1b2A3d4.js': '',
    [`dist/${FILE}`]: IMAGES['a.png']
  })
  const mounts = { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }
  const options = {
    root,
    apps: false,
    integrity: false,
    host: 'https://cdn.example',
    mounts
  } as const
  const { image } = await pagesOf(options)()
  t.is(
    image('src/hero.png', { mount: '/static', width: 5 }),
    `<img src="https://cdn.example/static/${FILE}" alt="Hero" height="4" width="5">`
  )
})
