// Settles the values of expressions in scripts, such as `process.env.NODE_ENV`, by the environment and the option
// `define`.
import { entriesGiven, isRecord, type Expectation } from '../check-options.ts'

const EXPRESSION = /^(?!\d|import\b(?!\.meta\.\w)|.*\.\d)[\w$]+(?:\.[\w$]+)*$/
/** Other tools take a string as code: `JSON.stringify(false)`, which they need, would be true here. */
const CODE = /^"(?:\\".*\\"|[[{]\\".*[\]}]|true|false|null)"$/
/** The value of an environment variable is always text. */
const VARIABLE = /^(?:import\.meta|process)\.env\./
const WORD = /^"\w+"$/

function isDefinition([expression, value]: readonly [string, unknown]): boolean {
  if (!isJson(value) || !EXPRESSION.test(expression)) return false
  const json = JSON.stringify(value)
  return !CODE.test(json) || (VARIABLE.test(expression) && WORD.test(json))
}

/** JSON has no NaN, no bigint and no cycles. */
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

/** Returns the constants under Vite's names; `test` counts as development, as it does for packages. */
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
