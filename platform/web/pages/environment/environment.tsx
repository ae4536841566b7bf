import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import type { EnvironmentDetails, ShownService } from '../../../api/environments.ts'
import { addressOf } from '../../../api/pages.ts'
import { stillRuns } from '../../../rules/runs/running.ts'
import { Deployed, Place } from '../../parts/deployed.tsx'
import { FailedDeployBox } from '../../parts/failed-deploy.tsx'
import { laterPart } from '../../parts/frame/later.tsx'
import { Loading, SkeletonRows } from '../../parts/frame/loading.tsx'
import { Page, Section, Tabs } from '../../parts/frame/page.tsx'
import { Graph } from '../../parts/graph.tsx'
import { Icon } from '../../parts/icon.tsx'
import { isWebAddress, OutsideLink } from '../../parts/link.tsx'
import { AskTogether, deploysIn, isAsked, stateOfEnvironment } from '../../parts/namespace-state.tsx'
import { Empty } from '../../parts/problem.tsx'
import { ServiceProblemBox } from '../../parts/service-problem.tsx'
import { State, Tag, workloadState } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { commitPage, linePage } from '../../state/forge-pages.ts'
import { useLive } from '../../state/live.ts'
import { useResource } from '../../state/resource.ts'
import { EnvironmentActions } from './actions.tsx'

/** Parts of the page that are loaded when the user opens a service. */
const ServiceLogs = laterPart(
  async () => (await import('./service-logs.tsx')).ServiceLogs,
  () => <div class="log-place" />,
)

const ServiceEvents = laterPart(
  async () => (await import('./service-events.tsx')).ServiceEvents,
  () => <SkeletonRows />,
)

const ServiceSettings = laterPart(
  async () => (await import('./service-settings.tsx')).ServiceSettings,
  () => <SkeletonRows />,
)

const BelowServices = laterPart(
  async () => (await import('./below-services.tsx')).BelowServices,
  () => null,
)

/** Polling interval for the environment if there is no stream, in milliseconds. */
const EVERY = 3_000
/** Polling interval for the deploys of the environment, in milliseconds. No stream reports them. */
const DEPLOYS_EVERY = 30_000

/** Shows the services of an environment, their problems with the reasons, and the changes of deploys. */
export function Environment() {
  const { params } = useRoute()
  const [ns = '', env = '', chosen] = [params['ns'], params['env'], params['service']]
  const found = useResource('GET /namespaces/:ns/environments/:env', { params: { ns, env } }, useLive(ns, EVERY))
  const { data } = found.state.value
  const namespace = useResource('GET /namespaces/:ns', { params: { ns } }).state.value
  // The actions are above the content, so the page waits for the user's role: nothing may move down when it arrives.
  const isKnown = namespace.data !== undefined || namespace.problem !== undefined
  const shown = data && stateOfEnvironment(ns, data)
  const failed = deploysIn(ns).failedDeploys.find(one => one.environment === env)
  const first = data?.services.flatMap(one => one.endpoints).find(isWebAddress)
  return (
    <Page
      title={env}
      windowTitle={chosen === undefined ? `${env} · ${ns}` : `${chosen} · ${env} · ${ns}`}
      tone={shown?.tone}
      crumbs={[
        ['Home', addressOf('home')],
        [ns, addressOf('namespace', { ns })],
      ]}
      beside={shown && <State {...shown} />}
      actions={
        <>
          {data && isKnown && <EnvironmentActions environment={data} role={namespace.data?.role} />}
          {first !== undefined && (
            <a class="button solid" href={first} target="_blank" rel="noopener noreferrer">
              <span>
                Open{' '}
                {
                  first
                    .replace(/^https?:\/\//, '')
                    .split('/')[0]
                    ?.split('.')[0]
                }
              </span>
              <Icon name="open" />
              <span class="hidden"> (in a new tab)</span>
            </a>
          )}
        </>
      }
    >
      {namespace.data && isAsked(namespace.data) && <AskTogether names={[ns]} every={DEPLOYS_EVERY} />}
      {failed && (
        <FailedDeployBox failed={failed} isPreviousRunning={data !== undefined && stillRuns(failed, [data])} />
      )}
      <Loading of={found}>
        {environment => (isKnown ? <Parts environment={environment} chosen={chosen} /> : <SkeletonRows />)}
      </Loading>
    </Page>
  )
}

function Parts({
  environment,
  chosen,
}: {
  readonly environment: EnvironmentDetails
  readonly chosen: string | undefined
}) {
  const { namespace: ns, name: env, services, deployed, source } = environment
  const isTable = useSignal((localStorage.getItem('services') ?? (innerWidth < 640 ? 'table' : 'graph')) === 'table')
  const problems = services.flatMap(({ name, problems }) => problems.map(problem => ({ name, problem })))
  const service = services.find(one => one.name === chosen)
  const addressOfService = (name: string) => addressOf('service', { ns, env, service: name })
  const choose = (next: boolean) => {
    isTable.value = next
    localStorage.setItem('services', next ? 'table' : 'graph')
  }
  return (
    <>
      {deployed && (
        <p class="soft under-title">
          <span class="first-letter">
            <Deployed deploy={deployed} commitPage={commitPage(deployed)} />
          </span>
          {source && (
            <>
              {' · '}
              <code>{source.file}</code> of {source.repository}
            </>
          )}
        </p>
      )}
      {problems.length > 0 && (
        <Section title={problems.length === 1 ? '1 problem' : `${problems.length} problems`}>
          <div class="list">
            {problems.map(({ name, problem }) => (
              <ServiceProblemBox
                key={`${name} ${problem.code}`}
                problem={problem}
                deployed={deployed}
                logs={[name, addressOfService(name)]}
              />
            ))}
          </div>
        </Section>
      )}
      <Section
        title="Services"
        about={services.length > 1 ? 'Each service depends on those to its right.' : undefined}
        actions={
          <fieldset class="segments">
            <legend class="hidden">Show services as</legend>
            {(['Graph', 'Table'] as const).map(text => (
              <label key={text}>
                <input
                  type="radio"
                  name="as"
                  checked={isTable.value === (text === 'Table')}
                  onChange={() => choose(text === 'Table')}
                />
                <Icon name={text === 'Table' ? 'list' : 'graph'} size={14} />
                <span>{text}</span>
              </label>
            ))}
          </fieldset>
        }
      >
        {services.length === 0 ? (
          <Empty icon="box" title="No services" />
        ) : isTable.value ? (
          <ServiceTable services={services} chosen={chosen} addressOfService={addressOfService} />
        ) : (
          <Graph services={services} chosen={chosen} addressOfService={addressOfService} />
        )}
      </Section>
      {service && (
        <>
          <ServiceDetails key={service.name} service={service} environment={environment} />
          <ServiceTabs environment={environment} service={service} />
        </>
      )}
      <BelowServices environment={environment} />
    </>
  )
}

interface ServiceTabsProps {
  readonly environment: EnvironmentDetails
  readonly service: ShownService
}

/** Shows the problems of a service, its log, its events and its settings. */
function ServiceTabs({ environment: { namespace, name: env, deployed }, service }: ServiceTabsProps) {
  const { path } = useLocation()
  const { name, problems, place } = service
  const address = { ns: namespace, env, service: name }
  const [wrong, events, settings] = [
    addressOf('serviceProblems', address),
    addressOf('serviceEvents', address),
    addressOf('serviceSettings', address),
  ]
  const part = { namespace, environment: env }
  // Preact takes a key only from an attribute, not from an object that is spread.
  const key = `${namespace} ${env} ${name}`
  return (
    <>
      <Tabs
        label={`About ${name}`}
        items={[
          ...(problems.length > 0 || path === wrong ? [[`Problems ${problems.length}`, wrong] as const] : []),
          ['Logs', addressOf('service', address)],
          ['Events', events],
          ['Settings', settings],
        ]}
      />
      {path === wrong ? (
        <ServiceProblems service={service} deployed={deployed} />
      ) : path === events ? (
        <ServiceEvents key={key} {...part} service={name} workload={service.workload} />
      ) : path === settings ? (
        <ServiceSettings key={key} {...part} service={service} page={place && deployed && linePage(deployed, place)} />
      ) : (
        <ServiceLogs key={key} {...part} service={name} />
      )}
    </>
  )
}

const ServiceProblems = ({
  service: { name, problems },
  deployed,
}: Pick<ServiceTabsProps, 'service'> & Pick<EnvironmentDetails, 'deployed'>) => (
  <Section title="Problems">
    {problems.length === 0 ? (
      <Empty icon="check" title={`No problems with ${name}`} />
    ) : (
      <div class="list">
        {problems.map(one => (
          <ServiceProblemBox key={one.code} problem={one} deployed={deployed} />
        ))}
      </div>
    )}
  </Section>
)

interface ServiceTableProps {
  readonly services: readonly ShownService[]
  readonly chosen: string | undefined
  readonly addressOfService: (name: string) => string
}

const ServiceTable = ({ services, chosen, addressOfService }: ServiceTableProps) => (
  <Table label="Services" columns={['Service', 'State', 'Ready', 'Restarts', 'Image', 'Depends on']}>
    {services.map(one => (
      <tr key={one.name}>
        <th scope="row">
          <a class="link" href={addressOfService(one.name)} aria-current={one.name === chosen ? 'true' : undefined}>
            {one.name}
          </a>
        </th>
        <td>
          <State {...workloadState(one.state)} />
        </td>
        <td>{one.kind === 'Job' ? '–' : `${one.ready}/${one.wanted}`}</td>
        <td>{one.restarts}</td>
        <td>{one.image !== undefined && <code>{one.image}</code>}</td>
        <td>{one.dependsOn.map(({ service }) => service).join(', ') || '–'}</td>
      </tr>
    ))}
  </Table>
)

function ServiceDetails({
  service,
  environment: { namespace, name: env, deployed },
}: {
  readonly service: ShownService
  readonly environment: EnvironmentDetails
}) {
  const { name, state, reason, kind, ready, wanted, restarts, since, image, endpoints, exposed, internal, place } =
    service
  const top = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const from = top.current?.getBoundingClientRect().top ?? 0
    // Scrolls to the chosen service, unless it is already in view.
    if (from > 0.6 * innerHeight) top.current?.scrollIntoView({ block: 'start' })
  }, [])
  return (
    <div ref={top} class="chosen-service">
      <Section
        title={name}
        actions={
          <a class="button plain" href={addressOf('environment', { ns: namespace, env })}>
            <Icon name="cross" />
            <span>Close</span>
          </a>
        }
      >
        <dl class="facts card">
          <dt>State</dt>
          <dd>
            <State {...workloadState(state)} />
            {reason !== undefined && <span class="soft"> {reason}</span>}
          </dd>
          {kind !== undefined && (
            <>
              <dt>Workload</dt>
              <dd>
                {kind}
                {kind !== 'Job' && `, ${ready} of ${wanted} ready`}
                {restarts > 0 && `, ${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`}
                {since !== undefined && (
                  <span class="soft">
                    {', since '}
                    <Time at={since} />
                  </span>
                )}
              </dd>
            </>
          )}
          {image !== undefined && (
            <>
              <dt>Image</dt>
              <dd>
                <code>{image}</code>
              </dd>
            </>
          )}
          {[...endpoints, ...exposed].length > 0 && (
            <>
              <dt>Endpoints</dt>
              <dd class="stack tight">
                {endpoints.map(one => (
                  <span key={one}>
                    <OutsideLink href={one} />
                  </span>
                ))}
                {exposed.map(one => (
                  <code key={one}>{one}</code>
                ))}
              </dd>
            </>
          )}
          {internal.length > 0 && (
            <>
              <dt>Internal endpoints</dt>
              <dd>
                {internal.map(one => (
                  <code key={one}>{one}</code>
                ))}
              </dd>
            </>
          )}
          {service.dependsOn.length > 0 && (
            <>
              <dt>Depends on</dt>
              <dd>
                {service.dependsOn.map(({ service: other, condition }) => (
                  <Tag key={other}>{`${other} ${condition.replace(/^service_/, '').replaceAll('_', ' ')}`}</Tag>
                ))}
              </dd>
            </>
          )}
          {place && (
            <>
              <dt>Defined in</dt>
              <dd>
                <Place place={place} page={deployed && linePage(deployed, place)} />
              </dd>
            </>
          )}
        </dl>
      </Section>
    </div>
  )
}
