// What `init` gives a project: files that are written where there are none, and lines that are added.

/** By path, relative to the project's root. */
export type StarterFiles = Readonly<Record<string, string | Buffer>>

/** The assets of a first app. */
export const ASSETS: StarterFiles = {
  'apps/web/assets/favicon.ico': Buffer.from(
    'AAABAAEAICAAAAEAIACjAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAgAAAAIAIDAAAADhSSZwAAAAlQTFRFAAAAH3pc////' +
      'Q+Q36AAAAAF0Uk5TAEDm2GYAAABISURBVHjaY2AIBQMGBkYIw4GBFcIIYBCFMEKgSoCKSGVELYUyVq2CMMJWrZqKyohatWop' +
      'IQamLriBCCvIcCHcg3AvwwMBFiwAWldbVfcw7RUAAAAASUVORK5CYII=',
    'base64'
  ),
  'apps/web/assets/images/logo.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="7" fill="#1f7a5c"/>
  <circle cx="16" cy="16" r="6" fill="#fff"/>
</svg>
`,
  'apps/web/assets/javascripts/app.js': `document.documentElement.classList.add('js')
`,
  'apps/web/assets/stylesheets/app.css': `body {
  margin: 2rem auto;
  max-width: 40rem;
  padding: 0 1rem;
  font-family: system-ui, sans-serif;
  line-height: 1.5;
}
`
}

/** @param name `assets.config` with `.js` or, beside a tsconfig.json, `.ts`; with an `m` in a package of CommonJS modules */
export function configFile(name: string): StarterFiles {
  return { [name]: ABOUT_CONFIG + (isTypeScript(name) ? TYPED_CONFIG : CONFIG) }
}

export function isTypeScript(name: string): boolean {
  return name.endsWith('ts')
}

const ABOUT_CONFIG = '// Options for koaAssets() and for the koa-fresh-assets command.\n'

const CONFIG = `
/** @type {import('koa-fresh-assets').KoaAssetsOptions} */
export default {
  // Relative paths start here, whatever the working directory is.
  root: import.meta.dirname
}
`

const TYPE_IMPORT = "import type { KoaAssetsOptions } from 'koa-fresh-assets'"

const TYPED_CONFIG = `${TYPE_IMPORT}

export default {
  // Relative paths start here. If tsc writes this file elsewhere: process.cwd()
  root: import.meta.dirname
} satisfies KoaAssetsOptions
`

/** The lines of a file that a person may have, each with what takes its place. */
export type StarterLines = Readonly<Record<string, RegExp>>

const SERVE: StarterLines = {
  'SERVE_STATIC_ASSETS=true': /^\s*(?:export\s+)?SERVE_STATIC_ASSETS\s*=/m
}

export const LINES: Readonly<Record<string, StarterLines>> = {
  '.env.development': SERVE,
  '.env.test': SERVE,
  '.gitignore': {
    'public/assets': /^\s*\/?public\/assets(?:\/\**)?\s*$/m,
    'public/assets.json': /^\s*\/?public\/assets\.json\s*$/m
  }
}
