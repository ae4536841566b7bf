import type { ComponentChildren } from 'preact'
import type { ShownSettings } from '../../../api/admin.ts'
import { Command } from '../../parts/copy.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Page, Section } from '../../parts/frame/page.tsx'
import { Empty } from '../../parts/problem.tsx'
import { Table } from '../../parts/table.tsx'
import { duration } from '../../state/relative-time.ts'
import { useResource } from '../../state/resource.ts'

/** Shows the settings of the platform. The platform cannot change them, so neither can this page. */
export function PlatformSettings() {
  const found = useResource('GET /settings', {})
  return (
    <Page title="Platform settings">
      <Loading of={found}>
        {settings => (
          <>
            <Section
              title="Change settings"
              about={
                <>
                  Requires the rights of a cluster administrator: the server cannot change its own settings. Most are
                  options of <code>devctl platform install</code>; the others are in this file, which you can keep in
                  Git.
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

/** Renders a list of settings: the description, value and key in the settings file of each. */
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
        ['Namespaces per person', 'namespacesPerUser', namespacesPerUser],
        ['Previews per person', 'previewsPerUser', previewsPerUser],
        ['Sleep when idle', 'sleepHours', both(sleepHours)],
        ['Delete when idle', 'deleteHours', both(deleteHours)],
        ...(runs
          ? ([
              ['Runs per person', 'runs.perUser', `${runs.perUser} at a time`],
              ['Runs in total', 'runs.inAll', `${runs.inAll} at a time`],
              ['Time limit of a run', 'runs.deadline', duration(runs.deadline * 1000)],
            ] as const)
          : []),
      ]}
    />
  </Section>
)

const Logins = ({ providers }: ShownSettings) => (
  <Section title="Logins">
    {providers.length === 0 ? (
      <Empty icon="key" title="Invitations only">
        <p class="soft">
          To let people log in with their existing accounts, run <code>devctl platform install --oidc URL</code>.
        </p>
      </Empty>
    ) : (
      <Table label="Logins" columns={['Provider', 'Kind', 'Address', 'Allows']}>
        {providers.map(({ id, name, kind, address, allow }) => (
          <tr key={id}>
            <th scope="row">{name}</th>
            <td>{kind === 'oidc' ? 'OpenID Connect' : 'GitHub'}</td>
            <td>
              <code>{address}</code>
            </td>
            <td>{allow.length === 0 ? 'all of its accounts' : <Codes all={allow} />}</td>
          </tr>
        ))}
      </Table>
    )}
  </Section>
)

const Ci = ({ ci }: ShownSettings) => (
  <Section
    title="Trusted CI jobs"
    about="A job that matches a rule gets a token for one hour. It covers previews whose names begin with the prefix. Repositories and owners are identified by number, because names can be reused."
  >
    {ci.every(({ rules }) => rules.length === 0) ? (
      <Empty icon="lock" title="No trusted jobs">
        <p class="soft">
          To add a rule, run <code>devctl platform install --ci</code>.
        </p>
      </Empty>
    ) : (
      <Table label="Trusted CI jobs" columns={['System', 'Repository', 'Owner', 'Ref', 'Event', 'Previews']}>
        {ci.flatMap(({ kind, issuer, rules }) =>
          rules.map(({ repository, owner, ref, event, prefix }) => (
            <tr key={`${issuer} ${repository} ${owner} ${ref} ${event} ${prefix}`}>
              <th scope="row">
                {SYSTEMS[kind]} <code>{issuer}</code>
              </th>
              <td>{repository ?? 'any of this owner'}</td>
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
        ['Builders for forks', 'builders.untrusted', <Codes key="untrusted" all={builders?.untrusted ?? []} />],
        ...(builders
          ? ([
              ['Builds per builder', 'builders.atOnce', `${builders.atOnce} at a time`],
              [
                'A builder serves',
                'builders.oneNamespace',
                builders.oneNamespace ? 'one namespace at a time' : 'several namespaces at a time',
              ],
            ] as const)
          : []),
        ['Registry', 'registry', registry === undefined ? 'none' : <code>{registry}</code>],
        ['Accepts platform tokens', 'registryTokens', registryTokens ? 'yes' : 'no'],
        ['Runner image', 'runs.image', runs ? <code>{runs.image}</code> : 'none; runs are disabled'],
      ]}
    />
  </Section>
)

const Addresses = ({ domain, url, kubernetes, trustedProxies, ...networks }: ShownSettings) => (
  <Section title="Addresses">
    <Facts
      rows={[
        ['Domain of environments', 'domain', <code key="domain">{domain}</code>],
        ['Address of the platform', 'url', <code key="url">{url}</code>],
        ['API server', 'kubernetes.server', <code key="server">{kubernetes}</code>],
        ['Networks of the cluster', 'clusterNetworks', <Codes key="networks" all={networks.clusterNetworks} />],
        ['Private networks that are open', 'privateNetworks', <Codes key="private" all={networks.privateNetworks} />],
        ['Trusted proxies', 'trustedProxies', <Codes key="proxies" all={trustedProxies} />],
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
