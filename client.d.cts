/** What scripts for browsers know: `"types": ["koa-fresh-assets/client"]` in their tsconfig.json. The names are Vite's. */
interface ImportMetaEnv {
  /** The name of the environment, the option `env`. */
  MODE: string
  DEV: boolean
  PROD: boolean
  SSR: boolean
  /** The option `base`, with a slash at its end. */
  BASE_URL: string
}

interface ImportMeta {
  readonly env: ImportMetaEnv
}
