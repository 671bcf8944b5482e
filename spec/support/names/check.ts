// Compares what the modes answer with the rule.
import { precompile } from '../../../lib/publishing/building/precompile.ts'
import { settleForPrecompile } from '../../../lib/runtime/app/extras.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { PrecompileError } from '../../../lib/runtime/errors.ts'
import { type Mode, Server } from './modes.ts'
import { make, type Plan } from './project.ts'
import { Rule } from './rule.ts'

/**
 * Asks for every name and follows every reference.
 * @returns the number of names
 * @throws Error for the first that leads elsewhere than the rule says
 */
export async function check(plan: Plan): Promise<number> {
  const rule = new Rule(plan)
  const { options, remove } = make(plan)
  try {
    await compare(plan, rule, options, 'development')
    if (plan.isPrecompiled) {
      if (await isPrecompiled(rule, options)) await compare(plan, rule, options, 'precompiled')
    } else if (rule.refused.length === 0)
      await compare(plan, rule, options, 'fingerprints on request')
    return plan.apps.reduce((sum, app) => sum + rule.namesToTry(app).length, 0)
  } finally {
    await remove()
  }
}

/** Precompile refuses what can never be published, and several sources of a name. */
async function isPrecompiled(rule: Rule, options: KoaAssetsOptions): Promise<boolean> {
  try {
    await precompile(settleForPrecompile(options, {}), { warn: () => undefined })
  } catch (error) {
    if (rule.isEmpty || (error instanceof PrecompileError && rule.refused.length > 0)) return false
    throw error
  }
  if (rule.refused.length === 0) return true
  throw new Error(`precompile publishes ${rule.refused.join(', ')}`)
}

async function compare(plan: Plan, rule: Rule, options: KoaAssetsOptions, mode: Mode) {
  const server = new Server(options, mode)
  await server.start()
  const expect = (asked: string, got: string | undefined, expected: string | undefined) => {
    if (got !== expected) throw new Error(`${mode}: ${asked} leads to ${got}, not to ${expected}`)
  }
  try {
    const asked = plan.apps.flatMap(app => rule.namesToTry(app).map(name => ({ app, name })))
    for (const { app, name, mark, references } of await server.answers(asked)) {
      const found = rule.lookUp(app, name)
      expect(`${name} in ${app.name}`, mark, found?.mark)
      for (const [reference, got] of references) {
        expect(`${reference} in ${mark}, ${name} of ${app.name}`, got, found?.referred(reference))
      }
    }
  } finally {
    server.stop()
  }
}
