// One process of its own: it looks at which modules were loaded.
import test from 'ava'
import { placed, run } from '../../support/fingerprinted.ts'
import { loadedScripts } from '../../support/loaded.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'

const FILES = { 'app.js': "import './a.js'", 'a.js': 'export {}', 'app.css': 'a{}' }
const isLoaded = () => loadedScripts().some(url => url.includes('es-module-lexer'))

test.serial(
  'the lexer is not loaded in development, nor where stylesheets alone are built',
  async t => {
    const site = await makeSite(t, FILES)
    t.is((await site.ask('/assets/app.js')).text, FILES['app.js'])
    const root = makeProject(t)
    writeFiles(root, placed({ 'app.css': 'a{}' }))
    await run({ root })
    t.false(isLoaded())
  }
)

test.serial(
  'the lexer is not loaded for modules without fingerprints, but for those that get them',
  async t => {
    const root = makeProject(t)
    writeFiles(root, placed(FILES))
    await run({ root, fingerprint: false })
    t.false(isLoaded())
    await run({ root })
    t.true(isLoaded())
  }
)
