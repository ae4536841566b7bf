import type { ComponentChildren } from 'preact'
import { printable } from '../../../../compiler/values/printable.ts'
import type { PlatformOverview } from '../../../api/admin.ts'
import { addressOf } from '../../../api/pages.ts'
import { Bar } from '../../parts/bar.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Empty, InlineCode, sentence } from '../../parts/problem.tsx'
import { namespaceState, State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { bytes } from '../../state/bytes.ts'
import { useResource } from '../../state/resource.ts'

/** How the whole platform is, for administrators. */
export function Overview() {
  const found = useResource('GET /admin/overview', {})
  return (
    <Page title="Overview">
      <Loading of={found}>
        {overview => (
          <>
            <Health {...overview} />
            <Numbers {...overview} />
            <Server {...overview} />
            {overview.failed.length > 0 && <Failed {...overview} />}
            <Builders {...overview} />
            <Disk {...overview} />
            <Keys {...overview} />
          </>
        )}
      </Loading>
    </Page>
  )
}

const Health = ({ problems }: PlatformOverview) => (
  <Section
    title={problems.length === 0 ? 'Health' : problems.length === 1 ? 'One problem' : `${problems.length} problems`}
  >
    <ul class="list">
      {problems.length === 0 && (
        <li class="row">
          <State tone="good" icon="check" word="All is well" />
        </li>
      )}
      {problems.map(({ message, hint }) => (
        <li key={message} class="diagnostic">
          <Icon name="warn" />
          <div class="stack tight">
            <p class="strong">
              <InlineCode text={sentence(message)} />
            </p>
            {hint !== undefined && (
              <p class="soft">
                <InlineCode text={sentence(hint)} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  </Section>
)

function Numbers({ namespaces, users, runs, pools }: PlatformOverview) {
  const building = pools.flatMap(({ builders }) => builders).reduce((sum, one) => sum + one.running, 0)
  const waiting = pools.reduce((sum, one) => sum + one.waiting, 0)
  return (
    <Section title="In numbers">
      <ul class="tiles">
        <Tile word="Namespaces" number={namespaces.all} href={addressOf('home')}>
          {namespaces.awake} awake, {namespaces.asleep} asleep
          {namespaces.deleting > 0 && <>, {namespaces.deleting} being deleted</>}
          {namespaces.failed > 0 && <>, {namespaces.failed} not deleted</>}
        </Tile>
        <Tile word="Previews" number={namespaces.previews} href={addressOf('previews')}>
          among these namespaces
        </Tile>
        <Tile word="People" number={users.all} href={addressOf('users')}>
          {users.admins} {users.admins === 1 ? 'administrator' : 'administrators'}
          {users.suspended > 0 && <>, {users.suspended} suspended</>}
        </Tile>
        <Tile word="Runs now" number={runs.running}>
          {runs.most !== undefined && <>{runs.most} at most, </>}
          {runs.queued} in the queue
          {runs.waitingSince !== undefined && (
            <>
              , the oldest since <Time at={runs.waitingSince} />
            </>
          )}
        </Tile>
        {pools.length > 0 && (
          <Tile word="Builds now" number={building}>
            {waiting} in the queue
          </Tile>
        )}
      </ul>
    </Section>
  )
}

const Tile = ({
  word,
  number,
  href,
  children,
}: {
  readonly word: string
  readonly number: number
  readonly href?: string
  readonly children: ComponentChildren
}) => (
  <li class="tile">
    <span class="tile-word">
      {href === undefined ? (
        word
      ) : (
        <a class="stretched" href={href}>
          {word}
        </a>
      )}
    </span>
    <span class="tile-number number">{number}</span>
    <span class="soft">{children}</span>
  </li>
)

const Server = ({ version, leader, replica, workloads, registry }: PlatformOverview) => (
  <Section title="Server">
    {workloads.length > 0 ? (
      <Table label="Workloads" columns={['Workload', 'State', 'Ready', 'Namespace']}>
        {workloads.map(({ name, namespace, ready, wanted }) => (
          <tr key={name}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              {ready >= wanted ? (
                <State tone="good" icon="check" word="Ready" />
              ) : (
                <State tone="bad" icon="warn" word="Not ready" />
              )}
            </td>
            <td class="number">
              {ready} of {wanted}
            </td>
            <td>{namespace}</td>
          </tr>
        ))}
      </Table>
    ) : (
      <Empty icon="server" title="The server may not see its workloads">
        <p class="soft">
          It was installed by an older version. <code>devctl platform install</code> brings it up to date.
        </p>
      </Empty>
    )}
    <dl class="facts card">
      <dt>Version</dt>
      <dd>{version}</dd>
      <dt>Leader</dt>
      <dd>{leader === undefined ? 'none' : <code>{leader}</code>}</dd>
      <dt>Answered by</dt>
      <dd>
        <code>{replica}</code>
      </dd>
      <dt>Registry</dt>
      <dd>
        {registry === undefined ? (
          'none: people push where they can'
        ) : (
          <>
            <code>{registry.name}</code>
            {registry.isBundled ? ', of the platform' : ', of your own'}
            {registry.hasTokens ? '; it takes tokens of the platform' : '; it has logins of its own'}
          </>
        )}
      </dd>
    </dl>
  </Section>
)

const Failed = ({ failed, namespaces }: PlatformOverview) => (
  <Section
    title="Could not be deleted"
    about={failed.length < namespaces.failed ? `The first ${failed.length} of ${namespaces.failed}.` : undefined}
  >
    <ul class="list">
      {failed.map(({ name, problem }) => (
        <li key={name} class="row environment">
          <span class="row-main">
            <a class="row-name cut stretched" href={addressOf('namespace', { ns: name })}>
              {name}
            </a>
          </span>
          <State {...namespaceState('DeleteFailed')} />
          <Icon name="right" size={14} />
          {problem !== undefined && (
            <p class="row-note">
              <InlineCode text={printable(problem)} />
            </p>
          )}
        </li>
      ))}
    </ul>
  </Section>
)

const Builders = ({ pools, replica, workloads }: PlatformOverview) => (
  <Section
    title="Builders"
    about={
      pools.length > 0 && workloads.some(({ name, wanted }) => name === 'deployment/platform' && wanted > 1)
        ? `Builds that came by ${replica}; other replicas may have more.`
        : undefined
    }
  >
    {pools.length === 0 ? (
      <Empty icon="box" title="No builders">
        <p class="soft">
          People build with a builder of their own. <code>devctl platform install --builders 1</code> brings one.
        </p>
      </Empty>
    ) : (
      <Table label="Builders" columns={['Builder', 'Pool', 'Builds']}>
        {pools.flatMap(({ name, builders, atOnce }) =>
          builders.map(({ address, running }) => (
            <tr key={`${name} ${address}`}>
              <th scope="row">
                <code>{address}</code>
              </th>
              <td>{name}</td>
              <td>
                <span class="metered">
                  <span class="number">
                    {running} of {atOnce}
                  </span>
                  <Bar share={running / atOnce} />
                </span>
              </td>
            </tr>
          )),
        )}
      </Table>
    )}
  </Section>
)

const Disk = ({ disk: { claims, history } }: PlatformOverview) => (
  <Section
    title="Disk"
    about={
      <>
        What the platform itself claims. Volumes of people are in their namespaces:{' '}
        <code>kubectl get pvc --all-namespaces</code> lists them.
      </>
    }
  >
    <dl class="facts card">
      {claims.flatMap(({ of, each, count }) => [
        <dt key={of}>{of === 'statefulset/builder' ? 'Caches of builders' : 'Images'}</dt>,
        <dd key={`${of} size`}>{count === 1 ? each : `${count} times ${each}`}</dd>,
      ])}
      <dt>History of runs</dt>
      <dd>
        {history === undefined
          ? 'is being counted'
          : `${history.runs} ${history.runs === 1 ? 'run' : 'runs'}, with logs of up to ${bytes(history.most)} in the database of the cluster`}
      </dd>
    </dl>
  </Section>
)

const Keys = ({ sealing: { kept, seals, opens } }: PlatformOverview) => (
  <Section title="Keys">
    <dl class="facts card">
      <dt>Kept in</dt>
      <dd>{KEPT[kept ?? 'unknown']}</dd>
      <dt>Seals with</dt>
      <dd>
        <code>k{seals}</code>
      </dd>
      <dt>Opens with</dt>
      <dd>
        <code>{opens.map(number => `k${number}`).join(' ')}</code>
      </dd>
    </dl>
  </Section>
)

const KEPT = {
  secret:
    'a Secret of this cluster: who has a copy of its database can open variables and credentials. A volume of a secret store would keep them apart.',
  volume: 'a volume of its own: a copy of the database of the cluster opens nothing.',
  unknown: 'a place that the server may not see: it was installed by an older version.',
}
