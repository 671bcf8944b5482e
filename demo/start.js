// npm run demo [name]: builds the package, then starts the demo site in the named way.
import { spawnSync } from 'node:child_process'

const PRECOMPILE = 'dist/cli.js precompile --root demo --env production'
const serve = environment => `--env-file=${environment} --import tsx demo/server.ts`

/** The Node programs that each way runs, one after the other. */
const SITES = {
  development: [serve('.env.example')],
  vite: [serve('demo/vite.env')],
  production: [
    'node_modules/vite/bin/vite.js build --config demo/vite/vite.config.ts',
    'dist/cli.js compress demo/vite/dist',
    PRECOMPILE,
    serve('demo/production.env')
  ],
  scaled: [PRECOMPILE, '--import tsx demo/deploy/scaled.ts']
}

const { 2: name = 'development' } = process.argv
const programs = Object.hasOwn(SITES, name) ? SITES[name] : undefined
if (!programs) {
  console.error(`there is no demo ${name}: npm run demo [${Object.keys(SITES).join('|')}]`)
  process.exitCode = 2
}
for (const words of programs ?? []) {
  // Ctrl-C also reaches the server, which ends by itself.
  process.on('SIGINT', () => undefined)
  const { status } = spawnSync(process.execPath, words.split(' '), { stdio: 'inherit' })
  process.exitCode = status ?? 1
  if (status !== 0) break
}
