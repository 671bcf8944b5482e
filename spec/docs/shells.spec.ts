// Commands are run in PowerShell, in cmd and in POSIX shells: those of `sh` blocks, and those in sentences. A block that
// only a POSIX shell runs has the language `bash`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from '../support/test.ts'
import { allCommands, generalHelp, helpFor } from '../../lib/publishing/cli/arguments.ts'
import { isKnown } from '../publishing/cli/run.ts'

const PROGRAMS =
  'cat|chmod|chown|cp|export|find|grep|kill|ln|ls|mv|rm|sed|set|sh|source|sudo|touch|uname|which'

/** What Windows PowerShell 5.1 or cmd does not know, or takes for something else. */
const CONSTRUCTS: ReadonlyArray<readonly [name: string, pattern: RegExp]> = [
  ['an assignment in front of a command', /^(?:[A-Za-z_]\w*=\S* +)+[\w.]/],
  ['&& or ||', /&&|\|\|/],
  ['single quotes', /'/],
  ['a variable or a substitution', /\$[\w({?]/],
  ['a line that goes on in the next one', /\\$/],
  ['a comment', /(?:^|\s)#/],
  // PowerShell 5.1 writes
  ['a redirect or a heredoc', /(?:^|\s)[\d&]?>>?\s*\S|<<|\s<\s/],
  ['a device of POSIX', /\/dev\/\w/],
  ['options of mkdir', /\bmkdir -/],
  ['a program of POSIX', new RegExp(`(?:^|[|;&]\\s*)(?:\\.|\\[|if|for|while|${PROGRAMS}) `)]
]

const found = (lines: readonly Line[]) =>
  lines.flatMap(([place, text]) => {
    const constructs = CONSTRUCTS.filter(([, pattern]) => pattern.test(text))
    return constructs.map(([construct]) => `${place}: ${construct}: ${text}`)
  })

/** A line with its file and number. */
type Line = readonly [place: string, text: string]

const BLOCK = /^([ \t]*)(`{3,}|~{3,})[ \t]*(\S*).*\n([^]*?)^\1\2[ \t]*$/gm
const SHELLS = new Set(['sh', 'shell', 'console', 'powershell', 'cmd'])
const IN_SENTENCE = /`((?:[A-Za-z_]\w*=\S* )*(?:npx|npm|node|curl) [^`]*)`/g

/** The lines of blocks for any shell, and the commands in sentences. */
function commandsOf(path: string, markdown: string): readonly Line[] {
  const lineAt = (at: number) => markdown.slice(0, at).split('\n').length
  const inBlocks = Array.from(markdown.matchAll(BLOCK)).flatMap(match => {
    const [, , , language = '', text = ''] = match
    const first = lineAt(match.index) + 1
    const lines = SHELLS.has(language) ? text.split('\n') : []
    return lines.map((line, at): Line => [`${path}:${first + at}`, line.trim()])
  })
  const prose = markdown.replaceAll(BLOCK, block => block.replaceAll(/[^\n]/g, ' '))
  const inSentences = Array.from(prose.matchAll(IN_SENTENCE), ({ index, 1: text = '' }): Line => [
    `${path}:${lineAt(index)}`,
    text
  ])
  return [...inBlocks.filter(([, text]) => text !== ''), ...inSentences]
}

const DOCS = readdirSync('docs').filter(name => name.endsWith('.md') && name !== 'decisions.md')
const OTHERS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'demo/README.md']
const PAGES = new Map(
  [...OTHERS, ...DOCS.map(name => `docs/${name}`)].map(path => [path, readFileSync(path, 'utf8')])
)

test('the commands of every page run in PowerShell, in cmd and in POSIX shells', t => {
  const lines = [...PAGES].flatMap(page => commandsOf(...page))
  t.true(lines.length > 70, String(lines.length))
  t.deepEqual(found(lines), [])
})

test('every command that a page gives exists, with its options', t => {
  const given = [...PAGES].flatMap(([path, text]) =>
    Array.from(text.matchAll(/npx koa-fresh-assets ([a-z][^`\n|>&#]+)/g), ([, line = '']): Line => [
      path,
      line
    ])
  )
  t.true(given.length > 30, String(given.length))
  t.deepEqual(
    given.filter(([, line]) => !line.includes('<') && !isKnown(line)),
    []
  )
})

const PRINTED = /^(?:[A-Za-z_]\w*=\S* )*(?:npx|npm|node|koa-fresh-assets) .*$/

test('the commands that the help shows run in every shell', async t => {
  const commands = await allCommands()
  const texts = [generalHelp(commands), ...commands.map(helpFor)]
  const lines = texts
    .flatMap(text => text.split('\n'))
    // What a command does is in the next column.
    .map(line => line.trim().replace(/ {2,}.*/, ''))
    .filter(line => PRINTED.test(line))
    .map((text): Line => ['help', text])
  t.true(lines.length > 20, String(lines.length))
  t.deepEqual(found(lines), [])
})

const IN_TEXT =
  /(?:\b[A-Z_]+=[\w.]+ )*\b(?:npm (?:install|run) |npx |node (?=--?\w|\w+\.\w))[^'"`\\\n]*/g

test('the commands in messages, and in what init prints, run in every shell', t => {
  const paths = readdirSync('lib', { recursive: true, encoding: 'utf8' })
  const lines = paths
    .filter(path => path.endsWith('.ts'))
    .flatMap(path => {
      const text = readFileSync(join('lib', path), 'utf8').replaceAll(/\$\{[^}]*\}/g, '…')
      return Array.from(text.matchAll(IN_TEXT), ([command]): Line => [path, command])
    })
  t.true(lines.length > 12, String(lines.length))
  t.deepEqual(found(lines), [])
})
