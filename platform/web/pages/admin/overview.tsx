import type { ComponentChildren } from 'preact'
import { printable } from '../../../../compiler/values/printable.ts'
import type { PlatformOverview } from '../../../api/admin.ts'
import { addressOf } from '../../../api/pages.ts'
import { Bar } from '../../parts/frame/bar.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Page, Section } from '../../parts/frame/page.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Empty, InlineCode, sentence } from '../../parts/problem.tsx'
import { namespaceState, State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { bytes } from '../../state/bytes.ts'
import { useResource } from '../../state/resource.ts'

/** Shows administrators the state of the whole platform. */
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
            {overview.dependencies.length > 0 && <Dependencies {...overview} />}
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
    title={problems.length === 0 ? 'Health' : problems.length === 1 ? '1 problem' : `${problems.length} problems`}
  >
    <ul class="list">
      {problems.length === 0 && (
        <li class="row">
          <State tone="good" icon="check" word="No problems" />
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
    <Section title="At a glance">
      <ul class="tiles">
        <Tile word="Namespaces" number={namespaces.all} href={addressOf('home')}>
          {namespaces.awake} awake, {namespaces.asleep} asleep
          {namespaces.deleting > 0 && <>, {namespaces.deleting} deleting</>}
          {namespaces.failed > 0 && <>, {namespaces.failed} failed to delete</>}
        </Tile>
        <Tile word="Previews" number={namespaces.previews} href={addressOf('previews')}>
          included in namespaces
        </Tile>
        <Tile word="People" number={users.all} href={addressOf('users')}>
          {users.admins} {users.admins === 1 ? 'administrator' : 'administrators'}
          {users.suspended > 0 && <>, {users.suspended} suspended</>}
        </Tile>
        <Tile word="Active runs" number={runs.running}>
          {runs.most !== undefined && <>limit {runs.most}, </>}
          {runs.queued} queued
          {runs.waitingSince !== undefined && (
            <>
              , oldest <Time at={runs.waitingSince} />
            </>
          )}
        </Tile>
        {pools.length > 0 && (
          <Tile word="Active builds" number={building}>
            {waiting} queued
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
      <Empty icon="server" title="The server cannot see its workloads">
        <p class="soft">
          It was installed by an older version. To upgrade it, run <code>devctl platform install</code>.
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
          'none; builds push to registries of your own'
        ) : (
          <>
            <code>{registry.name}</code>
            {registry.isBundled ? ', bundled' : ', external'}
            {registry.hasTokens ? '; accepts platform tokens' : '; uses its own logins'}
          </>
        )}
      </dd>
    </dl>
  </Section>
)

const USES: Readonly<Record<PlatformOverview['dependencies'][number]['kind'], string>> = {
  oidc: 'Login',
  github: 'Login',
  ci: 'CI logins',
  forge: 'Webhooks',
}

const Dependencies = ({ dependencies }: PlatformOverview) => (
  <Section title="Other servers" about="Seen from the server.">
    <Table label="Other servers" columns={['Server', 'Used for', 'State', 'Address', 'Checked']}>
      {dependencies.map(({ kind, name, address, state, checked }) => (
        <tr key={`${kind} ${address}`}>
          <th scope="row">{printable(name)}</th>
          <td>{USES[kind]}</td>
          <td>
            {state === 'reached' && <State tone="good" icon="check" word="Reachable" />}
            {state === 'failed' && <State tone="bad" icon="warn" word="Failed" />}
            {state === 'unknown' && <State tone="quiet" icon="clock" word="Unknown" />}
          </td>
          <td>
            <code>{printable(address)}</code>
          </td>
          <td>{checked === undefined ? '-' : <Time at={checked} />}</td>
        </tr>
      ))}
    </Table>
  </Section>
)

const Failed = ({ failed, namespaces }: PlatformOverview) => (
  <Section
    title="Failed to delete"
    about={
      failed.length < namespaces.failed ? `Showing the first ${failed.length} of ${namespaces.failed}.` : undefined
    }
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
        ? `Only builds through ${replica}. Other replicas may have more.`
        : undefined
    }
  >
    {pools.length === 0 ? (
      <Empty icon="box" title="No builders">
        <p class="soft">
          People use builders of their own. To add one, run <code>devctl platform install --builders 1</code>.
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
    title="Storage"
    about={
      <>
        Volumes of the platform itself. To list those in people’s namespaces, run{' '}
        <code>kubectl get pvc --all-namespaces</code>.
      </>
    }
  >
    <dl class="facts card">
      {claims.flatMap(({ of, each, count }) => [
        <dt key={of}>{of === 'statefulset/builder' ? 'Builder caches' : 'Images'}</dt>,
        <dd key={`${of} size`}>{count === 1 ? each : `${count} × ${each}`}</dd>,
      ])}
      <dt>Run history</dt>
      <dd>
        {history === undefined
          ? 'counting…'
          : `${history.runs} ${history.runs === 1 ? 'run' : 'runs'}, with up to ${bytes(history.most)} of logs in the cluster’s database`}
      </dd>
    </dl>
  </Section>
)

const Keys = ({ sealing: { kept, seals, opens } }: PlatformOverview) => (
  <Section title="Encryption keys">
    <dl class="facts card">
      <dt>Stored in</dt>
      <dd>{KEPT[kept ?? 'unknown']}</dd>
      <dt>Encrypts with</dt>
      <dd>
        <code>k{seals}</code>
      </dd>
      <dt>Decrypts with</dt>
      <dd>
        <code>{opens.map(number => `k${number}`).join(' ')}</code>
      </dd>
    </dl>
  </Section>
)

const KEPT = {
  secret:
    'A Secret in this cluster. Anyone with a copy of its database can decrypt variables and credentials. To keep the keys apart, mount a volume of a secret store.',
  volume: 'A separate volume. A copy of the cluster’s database decrypts nothing.',
  unknown: 'Unknown. The server was installed by an older version and cannot see them.',
}
