// The documentation as a whole: every page is found, every link leads somewhere, every code block is run.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import test from 'ava'
import { blocksOf } from '../support/examples.ts'
import { DIGEST_PATTERN } from '../../lib/files/digest.ts'

const PAGES = readdirSync('docs').map(name => `docs/${name}`)
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'demo/README.md', ...PAGES]
const read = (path: string) => readFileSync(path, 'utf8')
const markdown = [...DOCUMENTS].filter(path => path.endsWith('.md'))

/** The targets of links, without code and without other sites. */
function linksOf(path: string): readonly string[] {
  const prose = read(path).replaceAll(/^```[^]*?^```$|`[^`\n]*`/gm, '')
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target).filter(
    target => !/^\w+:/.test(target)
  )
}

/** The anchors of headings, as GitHub and npm make them. */
function anchorsOf(path: string): ReadonlySet<string> {
  const headings = read(path).replaceAll(/^```[^]*?^```$/gm, '')
  return new Set(
    Array.from(headings.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
      heading
        .replaceAll(/\]\([^)]*\)/g, ']')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-')
    )
  )
}

test('no link of the documentation is dead, anchors included', t => {
  const dead = markdown.flatMap(from =>
    linksOf(from).filter(link => {
      const [file = '', anchor] = link.split('#')
      const to = file === '' ? from : normalize(join(dirname(from), file))
      return !existsSync(to) || (anchor !== undefined && !anchorsOf(to).has(anchor))
    })
  )
  t.deepEqual(dead, [])
})

test('the configurations of demo/deploy know a fingerprint as long as it is', t => {
  const spelled = ['nginx/files.conf', 'nginx/proxy.conf', 'varnish/replicas.vcl'].map(file =>
    read(`demo/deploy/${file}`).match(/\[0-9a-f\]\{\d+\}/g)
  )
  t.deepEqual(spelled, [[DIGEST_PATTERN], [DIGEST_PATTERN], [DIGEST_PATTERN]])
})

test('docs/README.md links to every page, and README to docs/README.md', t => {
  const linked = new Set(linksOf('docs/README.md').map(link => `docs/${link.split('#')[0]}`))
  t.deepEqual(
    PAGES.filter(
      path =>
        path.endsWith('.md') &&
        !['docs/README.md', 'docs/decisions.md'].includes(path) &&
        !linked.has(path)
    ),
    []
  )
  t.true(linksOf('README.md').includes('docs/README.md'))
})

test('every page with code has a spec that runs it', t => {
  const specs = readdirSync('spec', { recursive: true, encoding: 'utf8' })
    .filter(path => path.endsWith('.spec.ts'))
    .map(path => read(join('spec', path)))
  const pages = ['README.md', ...PAGES].filter(path => path.endsWith('.md'))
  const withCode = pages.filter(path => blocksOf(read(path)).length > 0)
  t.true(withCode.length > 3)
  const runs = (spec: string, path: string) =>
    spec.includes(`readPage('${path}')`) && spec.includes('blocksLeft(), []')
  t.deepEqual(
    withCode.filter(path => !specs.some(spec => runs(spec, path))),
    []
  )
})

test('every fence of a page opens and closes at the start of a line, and names its language', t => {
  for (const path of ['README.md', ...PAGES].filter(path => path.endsWith('.md'))) {
    const fences = read(path).match(/^.*```.*$/gm) ?? []
    t.is(fences.length, 2 * blocksOf(read(path)).length, path)
    for (const { language, line } of blocksOf(read(path))) t.not(language, '', `${path}:${line}`)
  }
})
