import { on } from 'node:events'
import type { NewRun, Run, RunEvent } from '../../../../../platform/api/runs.ts'
import { hasEnded } from '../../../../../platform/rules/runs/run-states.ts'
import { makeUlid } from '../../../../../platform/rules/ulid.ts'
import type { StreamEvent } from '../../../../../platform/server/handlers/handler.ts'
import { sampleRunLog } from '../data/run-logs.ts'
import type { SampleCall, Samples } from '../sample.ts'
import { namespaceOf, runOf, type SampleTeam, YOU } from '../team.ts'
import { justNow } from '../times.ts'

type Wanted = Pick<NewRun, 'namespace' | 'environment' | 'action' | 'repository' | 'branch' | 'file' | 'variables'>

/** Adds a run that waits for its turn, which never comes. */
export function addRun(team: SampleTeam, { variables, ...wanted }: Wanted): Run {
  const { now, runs } = team
  namespaceOf(team, wanted.namespace)
  const made: Run = {
    id: makeUlid(now, new Uint8Array(10).fill(runs.length)),
    ...{ ...wanted, state: 'queued', user: YOU, created: justNow() },
    ...(variables && { variables: Object.keys(variables) }),
  }
  runs.unshift(made)
  return made
}

/** Yields the lines of a run and its state. Ends if the run has; otherwise continues after each change. */
async function* log(
  run: Run,
  { team, after = '0', signal }: Pick<SampleCall<'GET /runs/:id/log'>, 'team' | 'after' | 'signal'>,
): AsyncGenerator<StreamEvent<RunEvent>> {
  for (const data of sampleRunLog(run)) if (data.number > Number(after)) yield { id: String(data.number), data }
  yield { data: { type: 'state', run } }
  if (hasEnded(run.state)) return
  for await (const _ of on(team.changes, 'change', { signal })) {
    yield { data: { type: 'state', run } }
    if (hasEnded(run.state)) return
  }
}

/** Samples for runs. A run that a page starts waits until it is cancelled. */
export const runSamples = {
  'GET /runs': ({ team, query: { namespace, environment, last } }) => ({
    items: team.runs
      .filter(one => namespace === undefined || one.namespace === namespace)
      .filter(one => environment === undefined || one.environment === environment)
      .slice(0, last === undefined ? undefined : Number(last)),
  }),
  'POST /runs': ({ team, body: { cloneLogin: _, volumes: __, ...wanted } }) => addRun(team, wanted),
  'GET /runs/:id': ({ team, params }) => runOf(team, params.id),
  'POST /runs/:id/cancel': ({ team, params }) => {
    const run = runOf(team, params.id)
    return hasEnded(run.state) ? run : Object.assign(run, { state: 'cancelled' as const, ended: justNow() })
  },
  // Refuses before the stream begins.
  'GET /runs/:id/log': call => log(runOf(call.team, call.params.id), call),
} satisfies Samples
