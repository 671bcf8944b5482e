// Publishes files to which modules of packages refer relative to their own URL.
import { basename, dirname, join, posix } from 'node:path'
import type { Plugin } from 'rolldown'
import { realpathOf, statOf } from '../../../runtime/files/disk.ts'
import { readSnapshot } from '../../../runtime/files/open-file.ts'
import { decodeIfValid } from '../../../runtime/urls/spelling.ts'
import { loadModuleLexer } from '../../../publishing/references/modules.ts'
import { FOLDER, PLACEHOLDER, type Resolved } from '../resolving.ts'
import type { Rolldown } from '../rolldown.ts'

const IN_WORKER = /\bnew\s+(?:Shared)?Worker\s*\(\s*new\s+URL\s*\(\s*$/
const PLACEHOLDERS = new RegExp(`(["'\`])${PLACEHOLDER}([^"'\`]+)\\1`, 'g')

/** Keeps the files to which modules refer by `new URL('x.wasm', import.meta.url)`, and builds their workers. */
export function urls(resolved: Resolved, { transform }: Rolldown): Plugin {
  const { files, workers, packages } = resolved
  return {
    name: 'urls',
    transform: {
      filter: { code: 'import.meta.url', id: { exclude: /^\0/ } },
      async handler(code, id) {
        // The lexer reads neither JSX nor types. Rolldown reports errors with their places.
        const isScript = !/\.(?:[cm]?ts|[jt]sx)$/.test(id)
        const made = isScript
          ? { code, map: null }
          : await transform(basename(id), code, { sourcemap: true })
        let text = made.code
        const { references } = (await loadModuleLexer()).find(text)
        for (const { kind, path, suffix, start, end } of references.toReversed()) {
          if (kind !== 'new-url' || /^(?:[a-z][a-z\d+.-]*:|\/|$)/i.test(path)) continue
          const file = await realpathOf(join(dirname(id), decodeIfValid(path) ?? ''))
          if (file === undefined || !(await statOf(file))?.isFile()) continue
          await packages.requireReach(path.replace(/^(?!\.)/, './'), id, file)
          const name = resolved.nameOf(file)
          let url = JSON.stringify(PLACEHOLDER + name + suffix)
          const isWorker = IN_WORKER.test(text.slice(Math.max(0, start - 64), start))
          if (isWorker && (await isModule(file))) {
            workers.add(file)
            // Rolldown treats two with the same name as one.
            const chunk = { type: 'chunk', id: file, name: name.replace(/\.\w+$/, '') } as const
            url = `import.meta.ROLLUP_FILE_URL_${this.emitFile(chunk)}`
          } else files.set(name, file)
          text = text.slice(0, start) + url + text.slice(end)
        }
        return text === made.code ? null : { code: text, map: made.map ?? null, moduleType: 'js' }
      }
    },
    renderChunk: {
      filter: { code: PLACEHOLDER },
      handler: (code, { fileName }) => ({
        code: code.replaceAll(PLACEHOLDERS, (_, _quote, name: string) =>
          JSON.stringify(`./${posix.relative(posix.dirname(fileName), FOLDER + name)}`)
        ),
        map: null
      })
    }
  }
}

async function isModule(file: string): Promise<boolean> {
  const read = await readSnapshot(file)
  return read !== undefined && (await loadModuleLexer()).isModule(read.bytes.toString()) === true
}
