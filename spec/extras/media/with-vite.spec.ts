// Images of a bundle.
import { makeProject, pagesOf, test, viteBuild, viteMount } from '../../support/index.ts'
import { IMAGES } from '../../support/images.ts'

const FILE = 'assets/hero-B1a2C3d4.png'

test('image() writes the URL and size of a bundled file that is named by its source', async t => {
  const files = { 'src/hero.png': FILE, 'src/main.js': 'assets/main-C1b2A3d4.js' }
  const root = makeProject(t, { ...viteBuild('dist', files), [`dist/${FILE}`]: IMAGES['a.png'] })
  const mounts = { '/static': viteMount() }
  const options = { root, mounts, apps: false, integrity: false } as const
  const { image } = await pagesOf({ ...options, host: 'https://cdn.example' })()
  const tag = `<img src="https://cdn.example/static/${FILE}" alt="Hero" height="4" width="5">`
  t.is(image('src/hero.png', { mount: '/static', width: 5 }), tag)
})
