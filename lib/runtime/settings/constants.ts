// Settles the values of expressions in scripts, such as `process.env.NODE_ENV`: those of the environment, and those of
// the option `define`.
import { entriesGiven, isRecord, type Expectation } from '../check-options.ts'

const EXPRESSION = /^(?!\d|import\b(?!\.meta\.\w)|.*\.\d)[\w$]+(?:\.[\w$]+)*$/
/** Other tools take a string for code, so that `JSON.stringify(false)`, as they want it, would be true here. */
const CODE = /^"(?:\\".*\\"|[[{]\\".*[\]}]|true|false|null)"$/
/** A variable of the environment is a text, whatever it says. */
const VARIABLE = /^(?:import\.meta|process)\.env\./
const WORD = /^"\w+"$/

function isDefinition([expression, value]: readonly [string, unknown]): boolean {
  if (!isJson(value) || !EXPRESSION.test(expression)) return false
  const json = JSON.stringify(value)
  return !CODE.test(json) || (VARIABLE.test(expression) && WORD.test(json))
}

/** JSON has no NaN and no bigint, and nothing that is in itself. */
function isJson(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null)
    return value === null || /string|boolean/.test(typeof value) || Number.isFinite(value)
  return depth < 99 && entriesGiven({ ...value }).every(([, each]) => isJson(each, depth + 1))
}

export const DEFINE: Expectation = {
  expected:
    "an object of JSON values by expression, such as { __VERSION__: '1.2.0' }, where a string stands for itself, without JSON.stringify()",
  holds: value => isRecord(value) && entriesGiven(value).every(isDefinition)
}

export type Constants = Readonly<Record<string, unknown>>

type Situation = Readonly<Record<'env' | 'base', string> & Record<'isPrecompile', boolean>>

/** The names are those of Vite; `test` is a kind of development, as it is to packages. */
export function constantsOf({ env, isPrecompile, base }: Situation, define: Constants) {
  const isDeveloped = !isPrecompile && ['development', 'test'].includes(env)
  const all: Constants = {
    'process.env.NODE_ENV': isDeveloped ? 'development' : 'production',
    'import.meta.env.MODE': env,
    'import.meta.env.DEV': isDeveloped,
    'import.meta.env.PROD': !isDeveloped,
    'import.meta.env.SSR': false,
    'import.meta.env.BASE_URL': `${base}/`,
    ...(isPrecompile || env !== 'development' ? { 'import.meta.hot': undefined } : {}),
    ...define
  }
  const names = Object.keys(all).flatMap(each => /^import\.meta\.env\.(\w+)$/.exec(each)?.[1] ?? [])
  const whole = names.map(name => [name, all[`import.meta.env.${name}`]])
  return Object.freeze<Constants>({ 'import.meta.env': Object.fromEntries(whole), ...all })
}
