import { Bar } from '../../parts/frame/bar.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Page, Section } from '../../parts/frame/page.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Table } from '../../parts/table.tsx'
import { type Counted, sumOfDays, type UsedOften } from '../../state/analytics.ts'
import { useResource } from '../../state/resource.ts'
import { now } from '../../state/time.ts'

/**
 * Number of days that are shown, which is also the number that the platform keeps; and the polling interval in
 * milliseconds.
 */
const DAYS = 30
const EVERY = 60_000

/** Shows administrators which commands users run, as anonymous counts. */
export function Analytics() {
  const found = useResource('GET /admin/analytics', {}, EVERY)
  return (
    <Page title="Analytics">
      <p class="soft under-title">
        Commands that were run on this platform in the last {DAYS} days. The counts are anonymous and are sent nowhere
        else. To stop counting on a machine, run <code>devctl analytics --disable</code>.
      </p>
      <Loading of={found}>
        {({ items }) => {
          const { all, days, commands, versions, systems } = sumOfDays(items, now.value, DAYS)
          if (all === 0)
            return (
              <Empty icon="chart" title="No data yet">
                <p class="soft">Commands of the command line are here within a minute.</p>
              </Empty>
            )
          return (
            <>
              <Section title={all === 1 ? '1 command' : `${all} commands`} about="By day, in UTC.">
                <Days days={days} />
              </Section>
              <Section title="Commands" about="The median duration is at most the one shown.">
                <Commands commands={commands} />
              </Section>
              <div class="halves">
                <Section title="devctl versions">
                  <Shares label="Versions" column="Version" all={versions} />
                </Section>
                <Section title="Operating systems">
                  <Shares label="Operating systems" column="System" all={systems} />
                </Section>
              </div>
            </>
          )
        }}
      </Loading>
    </Page>
  )
}

const Days = ({ days }: { readonly days: readonly Counted[] }) => (
  <div class="card">
    <ol class="columns">
      {days.map(({ name, count, share }) => (
        <li key={name} title={`${name}: ${count}`}>
          <span class="hidden">
            {name}: {count}
          </span>
          <span class="column" style={{ height: `${Math.round(share * 100)}%` }} />
        </li>
      ))}
    </ol>
    <p class="columns-ends soft" aria-hidden="true">
      <span>{days[0]?.name}</span>
      <span>{days.at(-1)?.name}</span>
    </p>
  </div>
)

const Commands = ({ commands }: { readonly commands: readonly UsedOften[] }) => (
  <Table label="Commands" columns={['Command', 'Count', 'Failed', 'Median']}>
    {commands.map(({ name, count, share, failed, half }) => (
      <tr key={name}>
        <th scope="row">{name === 'other' ? 'others' : <code>devctl {name}</code>}</th>
        <td>
          <Count count={count} share={share} />
        </td>
        <td>{failed}%</td>
        <td>{half ?? 'more than 10 min'}</td>
      </tr>
    ))}
  </Table>
)

const Shares = ({
  label,
  column,
  all,
}: {
  readonly label: string
  readonly column: string
  readonly all: readonly Counted[]
}) => (
  <Table label={label} columns={[column, 'Commands']}>
    {all.map(({ name, count, share }) => (
      <tr key={name}>
        <th scope="row">{name}</th>
        <td>
          <Count count={count} share={share} />
        </td>
      </tr>
    ))}
  </Table>
)

const Count = ({ count, share }: Pick<Counted, 'count' | 'share'>) => (
  <span class="metered">
    <span class="number">{count}</span>
    <Bar share={share} />
  </span>
)
