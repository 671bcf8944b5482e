// The model "names", in views: `verify` with the option `views`, and --views before a precompile, accept exactly what
// helpers find in production.
import test from 'ava'
import * as fc from 'fast-check'
import { precompile } from '../../../lib/assets/building/precompile.ts'
import { settleForPrecompile } from '../../../lib/assets/extras.ts'
import { checkViews } from '../../../lib/extras/names/check-views.ts'
import { aPlan, type App, make, type Plan } from '../../support/names/project.ts'
import { Rule } from '../../support/names/rule.ts'
import { cases } from '../../support/soak.ts'

test('NAM-01 VEW-01 the check of views accepts what helpers find in production, in every app whose pages may have the view', async t => {
  const isPublishable = (plan: Plan) => {
    const rule = new Rule(plan)
    return rule.refused.length === 0 && !rule.isEmpty
  }
  const property = fc.asyncProperty(aPlan.filter(isPublishable), check)
  await fc.assert(property, { numRuns: cases(20, 300) })
  t.pass()
})

const GLOBS = ['views/**', 'apps/*/views/**']

async function check(plan: Plan): Promise<void> {
  const rule = new Rule(plan)
  const names = [...new Set(plan.apps.flatMap(app => rule.namesToTry(app)))]
  const view = names.map(name => `assets.path('${name}')`).join('\n')
  const views = [
    ['views/all.txt', plan.apps],
    ...plan.apps.map(app => [`apps/${app.name}/views/own.txt`, [app]])
  ] as const
  const { options, remove } = make(plan, Object.fromEntries(views.map(([path]) => [path, view])))
  const refusedIn = ([path, apps]: readonly [string, readonly App[]]) =>
    names.flatMap((name, at) =>
      apps.every(app => rule.lookUp(app, name)) ? [] : [`${path}:${at + 1}`]
    )
  const expected = (views as readonly (readonly [string, readonly App[]])[])
    .flatMap(refusedIn)
    .toSorted()
  try {
    const project = settleForPrecompile(options, {})
    const reported = async (isPublished: boolean) => {
      const { problems } = await checkViews(project, GLOBS, isPublished)
      const found = problems.map(({ path }) => path).toSorted()
      if (found.join() !== expected.join())
        throw new Error(
          `${isPublished ? 'verify' : '--views'} reports ${found.join()}, not ${expected.join()}`
        )
    }
    await reported(false)
    await precompile(project, { warn: () => undefined })
    await reported(true)
  } finally {
    await remove()
  }
}
