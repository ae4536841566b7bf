import { printable } from '../../../../compiler/values/printable.ts'
import { addressOf } from '../../../api/pages.ts'
import type { Run } from '../../../api/runs.ts'
import { duration } from '../../state/relative-time.ts'
import { now } from '../../state/time.ts'
import { Icon } from '../icon.tsx'
import { runState, State } from '../state.tsx'
import { Time } from '../time.tsx'

/** Returns the URL of a repository without its scheme and `.git`, such as `git.example.com/team/shop`. */
export const shortRepository = (url: string): string => url.replace(/^\w+:\/\//, '').replace(/\.git$/, '')

/** Returns the title of a run, such as `Deploy shop`. */
export const titleOf = ({ action, environment }: Run): string =>
  `${action === 'deploy' ? 'Deploy' : 'Destroy'} ${environment}`

/**
 * Returns the duration of a run as text; for an active run, the time from its start to `at`, in milliseconds since
 * 1970. Returns undefined if the run has not started.
 */
export function tookOf({ started, ended }: Run, at: number): string | undefined {
  if (started === undefined) return undefined
  return duration((ended === undefined ? at : Date.parse(ended)) - Date.parse(started))
}

/** Lists runs, one per row, with their action, source, user, and result. */
export const Runs = ({ items }: { readonly items: readonly Run[] }) => (
  <ul class="list">
    {items.map(run => (
      <li key={run.id}>
        <a class="row" href={addressOf('run', { id: run.id })}>
          <span class="row-main block">
            <span class="row-name cut">{titleOf(run)}</span>
            <span class="soft cut">
              <RunSource run={run} />
            </span>
          </span>
          <span class="run-state">
            <State {...runState(run.state)} />
          </span>
          <span class="row-side soft">
            {run.user.login} · <Time at={run.created} />
            {run.started !== undefined && ` · ${tookOf(run, now.value)}`}
          </span>
          <Icon name="right" size={14} />
        </a>
      </li>
    ))}
  </ul>
)

/** Renders the repository, branch and commit that a run has cloned. */
export const RunSource = ({ run: { repository, branch, commit } }: { readonly run: Run }) => (
  <>
    {repository === undefined ? 'no repository' : shortRepository(repository)}
    {branch !== undefined && (
      <>
        {' '}
        <code>{printable(branch)}</code>
      </>
    )}
    {commit !== undefined && (
      <>
        {' · '}
        <code>{commit.slice(0, 7)}</code>
      </>
    )}
  </>
)
