// Publishes what modules of packages refer to by their own URL.
import { dirname, join, posix } from 'node:path'
import type { Plugin } from 'rolldown'
import { realpathOf, statOf } from '../../../runtime/files/disk.ts'
import { readSnapshot } from '../../../runtime/files/open-file.ts'
import { loadModuleLexer } from '../../../publishing/references/module-references.ts'
import { decodeIfValid } from '../../../runtime/urls/spelling.ts'
import { FOLDER, PLACEHOLDER, type Resolved } from '../resolving.ts'

const OWN_URL =
  /\bnew\s+URL\s*\(\s*(["'`])((?:(?!\1|\$\{)[^\\\n])+)\1\s*,\s*import\.meta\.url\s*,?\s*\)/g
const IN_WORKER = /\bnew\s+(?:Shared)?Worker\s*\(\s*$/
const PLACEHOLDERS = new RegExp(`(["'\`])${PLACEHOLDER}([^"'\`]+)\\1`, 'g')

/** Keeps the files to which modules refer by `new URL('x.wasm', import.meta.url)`, and builds their workers. */
export function urls(resolved: Resolved): Plugin {
  const { files, workers, packages } = resolved
  return {
    name: 'urls',
    transform: {
      filter: { code: 'import.meta.url', id: { exclude: /^\0/ } },
      async handler(code, id) {
        const edits = new Array<readonly [at: number, end: number, text: string]>()
        for (const match of code.matchAll(OWN_URL)) {
          const [written, , url = ''] = match
          const [path = ''] = url.split(/[?#]/)
          if (/^(?:[a-z][a-z\d+.-]*:|\/|$)/i.test(path)) continue
          const file = await realpathOf(join(dirname(id), decodeIfValid(path) ?? ''))
          if (file === undefined || !(await statOf(file))?.isFile()) continue
          await packages.requireReach(path.replace(/^(?!\.)/, './'), id, file)
          const name = resolved.nameOf(file)
          const before = code.slice(Math.max(0, match.index - 64), match.index)
          const isWorker = IN_WORKER.test(before) && (await isModule(file))
          if (isWorker) workers.add(file)
          else files.set(name, file)
          // Rolldown takes two of the same name for one.
          const meant = isWorker
            ? `import.meta.ROLLUP_FILE_URL_${this.emitFile({ type: 'chunk', id: file, name: name.replace(/\.\w+$/, '') })}`
            : `"${PLACEHOLDER}${name}${url.slice(path.length)}", import.meta.url`
          edits.push([match.index, match.index + written.length, `new URL(${meant})`])
        }
        return edits.length > 0 ? { code: edited(code, edits), map: null } : null
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

function edited(code: string, edits: readonly (readonly [number, number, string])[]): string {
  return edits.reduceRight((text, [at, end, by]) => text.slice(0, at) + by + text.slice(end), code)
}
