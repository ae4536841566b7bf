import { expect, test } from 'vitest'
import { stoppedText } from '../../../../cli/terminal/operation-events.ts'
import { statesText } from '../../../../cli/terminal/service-states-text.ts'
import type { Plan } from '../../../../compiler/plan/plan.ts'
import type { Changes } from '../../../../environment/plan/changes.ts'
import type { DesiredState } from '../../../../environment/plan/desired-state.ts'
import { ServiceStates } from '../../../../operations/deploy/service-states.ts'

/** Returns the outcome of workloads with these services; those in `older` existed before. */
function outcomeOf(workloads: readonly (readonly [string, ...string[]])[], older: readonly string[] = []) {
  const plan = { workloads: workloads.map(services => ({ service: services[0], pod: { services } })) }
  const outcome = new ServiceStates(plan as unknown as Plan) // only the fields that it reads
  const wanted = { workloads: workloads.map(([service]) => ({ service })) }
  const steps = new Map(
    wanted.workloads.map(one => [one, { action: older.includes(one.service) ? 'update' : 'create' }]),
  )
  outcome.events.planned({ steps } as unknown as Changes, wanted as unknown as DesiredState)
  return outcome
}

test('every service is counted once, whatever its state', () => {
  const outcome = outcomeOf([['db'], ['web', 'side'], ['api'], ['job'], ['worker'], ['old']], ['old', 'api'])
  for (const service of ['db', 'web', 'api', 'job']) outcome.events.applied(service)
  outcome.events.status('db', { state: 'ready', text: '' })
  outcome.events.status('web', { state: 'ready', text: '' })
  outcome.events.status('web', { state: 'waiting', text: '' })
  outcome.events.status('job', { state: 'complete', text: '' })
  expect(Object.fromEntries(outcome.services())).toEqual({
    db: 'ready',
    web: 'not-ready',
    side: 'not-ready',
    api: 'not-waited-for',
    job: 'ready',
    worker: 'not-made',
    old: 'not-changed',
  })
  expect(statesText(outcome.services(), false)).toBe(
    'db, job are ready; web, side are not ready; worker was not created; old was not changed; api was not waited for (use `--wait`)',
  )
})

test('a deploy that waits and is stopped does not advise to wait', () => {
  const outcome = outcomeOf([['db'], ['api']], ['api'])
  outcome.events.applied('api')
  expect(statesText(outcome.services(), true)).toBe('db was not created; api is not known to be ready')
})

test('the text about many services has some names, and counts the rest', () => {
  const outcome = outcomeOf(Array.from({ length: 40 }, (_, index) => [`s${index}`] as const))
  expect(statesText(outcome.services(), false)).toMatch(/^s0, s1, .*, s11 and 28 more were not created$/)
})

test('a deploy that is stopped before it began has changed nothing', () => {
  const outcome = outcomeOf([['web']])
  const stopped = (isBegun: boolean) =>
    stoppedText({ environment: 'shop', namespace: 'dev', isBegun, waits: false, services: outcome.services() })
  expect(outcome.isBegun).toBe(false)
  expect(stopped(false)).toBe('nothing was changed for shop in dev\n')
  expect(stopped(true)).toBe('shop is partly deployed to dev: web was not created. Deploy again to continue\n')
})
