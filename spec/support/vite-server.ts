// Vite's dev server of a project, silent, on a port of its own or in this process.
import { join } from 'node:path'
import type { ExecutionContext } from './test.ts'
import { createServer, type InlineConfig } from 'vite'

/** Without a configuration file; nothing is bundled ahead, since specs ask for single files. */
export async function startVite(t: ExecutionContext, root: string, config: InlineConfig) {
  const { server: given, ...more } = config
  const isInProcess = given?.middlewareMode !== undefined
  const server = await createServer({
    ...{ root, configFile: false, logLevel: 'silent', cacheDir: join(root, '.vite') },
    optimizeDeps: { noDiscovery: true },
    server: isInProcess ? given : { port: 0, host: '127.0.0.1', ...given },
    ...more
  })
  t.teardown(() => server.close())
  if (!isInProcess) await server.listen()
  // A server in this process has none.
  const origin = isInProcess ? '' : new URL(server.resolvedUrls?.local[0] ?? '').origin
  return { server, origin }
}
