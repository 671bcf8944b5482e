// Builds by Vite of one page after the other: a main script, and a lazy chunk with its stylesheet.
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from '../support/test.ts'
import { build } from 'vite'
import { makeBundlerProject } from '../support/bundler-project.ts'
import { writeFiles, type Files } from '../support/site.ts'
import type { View } from './page.ts'

/** @param main what the main script has besides */
export function makeReleases(t: ExecutionContext, main = '', files: Files = {}) {
  const { root, remove } = makeBundlerProject(files)
  t.teardown(remove)
  /** Resolves to the directory of its build. */
  const release = async (number: number): Promise<string> => {
    const outDir = `releases/${number}`
    writeFiles(root, {
      'src/main.js': `${main}
        globalThis.release = ${number}
        globalThis.loadMore = () => import('./lazy.js')`,
      'src/lazy.js': `import './lazy.css'\ndocument.title = 'lazy ${number}'`,
      'src/lazy.css': `:root { --release: ${number} }`
    })
    await build({
      ...{ root, base: '/static/', configFile: false, logLevel: 'error' },
      build: { outDir, manifest: true, rollupOptions: { input: 'src/main.js' } }
    })
    return join(root, outDir)
  }
  /** Makes it the one that the site serves. */
  const switchTo = (number: number): void => {
    rmSync(join(root, 'dist'), { force: true })
    symlinkSync(`releases/${number}`, join(root, 'dist'))
  }
  const options = {
    ...{ root, env: 'production', revalidate: 0 },
    mounts: { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }
  }
  const view: View = ctx => {
    ctx.set('Cache-Control', 'no-store')
    return ctx.assets.entry('src/main.js')
  }
  return { release, switchTo, options, view }
}

/** The title that the lazy chunk gives to a page. */
export const LAZY_TITLE = 'loadMore().then(() => document.title)'
