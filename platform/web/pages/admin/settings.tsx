import type { ComponentChildren } from 'preact'
import type { ShownSettings } from '../../../api/admin.ts'
import { Command } from '../../parts/copy.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page, Section } from '../../parts/page.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Table } from '../../parts/table.tsx'
import { duration } from '../../state/relative-time.ts'
import { useResource } from '../../state/resource.ts'

/** What the platform is set up with. It cannot change that itself, so neither can this page. */
export function PlatformSettings() {
  const found = useResource('GET /settings', {})
  return (
    <Page title="Settings of the platform">
      <Loading of={found}>
        {settings => (
          <>
            <Section
              title="Change them"
              about={
                <>
                  With the rights of an administrator of the cluster: the server cannot change its own settings, so
                  nobody can through it. Most are options of <code>devctl platform install</code>; the others are in
                  this file, which may live in git.
                </>
              }
            >
              <Command
                lines={[
                  'kubectl --namespace devctl-platform edit configmap settings',
                  'kubectl --namespace devctl-platform rollout restart deployment/platform',
                ]}
              />
            </Section>
            <Limits {...settings} />
            <Logins {...settings} />
            <Ci {...settings} />
            <Build {...settings} />
            <Addresses {...settings} />
          </>
        )}
      </Loading>
    </Page>
  )
}

/** Each with the key that it has in the file. */
const Facts = ({
  rows,
}: {
  readonly rows: readonly (readonly [text: string, key: string, value: ComponentChildren])[]
}) => (
  <dl class="facts card settings">
    {rows.flatMap(([text, key, value]) => [
      <dt key={key}>
        {text}
        <code>{key}</code>
      </dt>,
      <dd key={`${key} value`}>{value}</dd>,
    ])}
  </dl>
)

const hours = (number: number): string =>
  number >= 48 && number % 24 === 0 ? `${number / 24} d` : duration(number * 3_600_000)

const both = ({ namespace, preview }: ShownSettings['sleepHours']): string =>
  `namespaces ${after(namespace)}, previews ${after(preview)}`

const after = (number: number): string => (number === 0 ? 'never' : `after ${hours(number)}`)

const Limits = ({ namespacesPerUser, previewsPerUser, sleepHours, deleteHours, runs }: ShownSettings) => (
  <Section title="Limits">
    <Facts
      rows={[
        ['Namespaces of a person', 'namespacesPerUser', namespacesPerUser],
        ['Previews of a person', 'previewsPerUser', previewsPerUser],
        ['Fall asleep', 'sleepHours', both(sleepHours)],
        ['Are deleted', 'deleteHours', both(deleteHours)],
        ...(runs
          ? ([
              ['Runs of a person', 'runs.perUser', `${runs.perUser} at the same time`],
              ['Runs of all', 'runs.inAll', `${runs.inAll} at the same time`],
              ['A run takes at most', 'runs.deadline', duration(runs.deadline * 1000)],
            ] as const)
          : []),
      ]}
    />
  </Section>
)

const Logins = ({ providers }: ShownSettings) => (
  <Section title="Logins">
    {providers.length === 0 ? (
      <Empty icon="key" title="Links only">
        <p class="soft">
          <code>devctl platform install --oidc URL</code> lets people log in with accounts that they have.
        </p>
      </Empty>
    ) : (
      <Table label="Logins" columns={['Provider', 'Kind', 'Address', 'Lets in']}>
        {providers.map(({ id, name, kind, address, allow }) => (
          <tr key={id}>
            <th scope="row">{name}</th>
            <td>{kind === 'oidc' ? 'OpenID Connect' : 'GitHub'}</td>
            <td>
              <code>{address}</code>
            </td>
            <td>{allow.length === 0 ? 'everybody whom it knows' : <Codes all={allow} />}</td>
          </tr>
        ))}
      </Table>
    )}
  </Section>
)

const Ci = ({ ci }: ShownSettings) => (
  <Section
    title="CI jobs that are trusted"
    about="A job that a rule fits gets a token for an hour, for previews whose names begin as the rule says. Repositories and owners are numbers, as names can be given to others."
  >
    {ci.every(({ rules }) => rules.length === 0) ? (
      <Empty icon="lock" title="None">
        <p class="soft">
          <code>devctl platform install --ci</code> adds a rule.
        </p>
      </Empty>
    ) : (
      <Table label="CI jobs that are trusted" columns={['System', 'Repository', 'Owner', 'Ref', 'Event', 'Previews']}>
        {ci.flatMap(({ kind, issuer, rules }) =>
          rules.map(({ repository, owner, ref, event, prefix }) => (
            <tr key={`${issuer} ${repository} ${owner} ${ref} ${event} ${prefix}`}>
              <th scope="row">
                {SYSTEMS[kind]} <code>{issuer}</code>
              </th>
              <td>{repository ?? 'any of the owner'}</td>
              <td>{owner ?? 'any'}</td>
              <td>{ref === undefined ? 'any' : <code>{ref}</code>}</td>
              <td>{event ?? 'pushes and pull requests'}</td>
              <td>
                <code>{prefix}…</code>
              </td>
            </tr>
          )),
        )}
      </Table>
    )}
  </Section>
)

const SYSTEMS = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea' }

const Build = ({ builders, registry, registryTokens, runs }: ShownSettings) => (
  <Section title="Builds and images">
    <Facts
      rows={[
        ['Builders', 'builders.default', <Codes key="default" all={builders?.default ?? []} />],
        ['For the code of strangers', 'builders.untrusted', <Codes key="untrusted" all={builders?.untrusted ?? []} />],
        ...(builders
          ? ([
              ['Builds of one builder', 'builders.atOnce', `${builders.atOnce} at the same time`],
              [
                'A builder serves',
                'builders.oneNamespace',
                builders.oneNamespace ? 'one namespace at a time' : 'all namespaces at the same time',
              ],
            ] as const)
          : []),
        ['Registry', 'registry', registry === undefined ? 'none' : <code>{registry}</code>],
        ['It takes tokens of the platform', 'registryTokens', registryTokens ? 'yes' : 'no'],
        ['Runs run in', 'runs.image', runs ? <code>{runs.image}</code> : 'no image: there are no runs'],
      ]}
    />
  </Section>
)

const Addresses = ({ domain, url, kubernetes, clusterNetworks, trustedProxies }: ShownSettings) => (
  <Section title="Addresses">
    <Facts
      rows={[
        ['Environments are below', 'domain', <code key="domain">{domain}</code>],
        ['The platform is', 'url', <code key="url">{url}</code>],
        ['API server', 'kubernetes.server', <code key="server">{kubernetes}</code>],
        ['Closed to namespaces', 'clusterNetworks', <Codes key="networks" all={clusterNetworks} />],
        ['Proxies that are believed', 'trustedProxies', <Codes key="proxies" all={trustedProxies} />],
      ]}
    />
  </Section>
)

const Codes = ({ all }: { readonly all: readonly string[] }) =>
  all.length === 0 ? (
    <>none</>
  ) : (
    <span class="codes">
      {all.map(one => (
        <code key={one}>{one}</code>
      ))}
    </span>
  )
