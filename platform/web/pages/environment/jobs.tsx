import type { ShownJob, ShownJobRun } from '../../../api/environments.ts'
import { Section } from '../../parts/frame/page.tsx'
import { runState, State, workloadState } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { duration } from '../../state/relative-time.ts'

/** Shows the jobs of an environment with their schedules, and their next and last runs. */
export const Jobs = ({ jobs }: { readonly jobs: readonly ShownJob[] }) => (
  <Section title="Jobs">
    <Table label="Jobs" columns={['Job', 'Schedule', 'Next run', 'Last run', 'State', 'Duration']}>
      {jobs.map(job => (
        <tr key={job.name}>
          <th scope="row">{job.name}</th>
          <td>{job.schedules.length === 0 ? 'Manual' : <Schedules of={job} />}</td>
          <td>{job.isSuspended ? 'Suspended' : job.nextRun === undefined ? '–' : <Time at={job.nextRun} />}</td>
          {job.lastRun ? <LastRun run={job.lastRun} /> : <NoRun />}
        </tr>
      ))}
    </Table>
  </Section>
)

const Schedules = ({ of: { schedules } }: { readonly of: ShownJob }) => (
  <span class="stack tight">
    {schedules.map(({ cron, timeZone }) => (
      <span key={`${cron} ${timeZone}`}>
        <code>{cron}</code>
        {timeZone !== undefined && <span class="soft"> {timeZone}</span>}
      </span>
    ))}
  </span>
)

const LastRun = ({ run: { state, started, ended, exitStatus } }: { readonly run: ShownJobRun }) => (
  <>
    <td>{started === undefined ? '–' : <Time at={started} />}</td>
    <td>
      {state === undefined ? '–' : <State {...(state === 'waiting' ? workloadState(state) : runState(state))} />}
      {state === 'failed' && exitStatus !== undefined && <span class="soft"> exit status {exitStatus}</span>}
    </td>
    <td>{started !== undefined && ended !== undefined ? duration(Date.parse(ended) - Date.parse(started)) : '–'}</td>
  </>
)

const NoRun = () => (
  <>
    <td>Never</td>
    <td>–</td>
    <td>–</td>
  </>
)
