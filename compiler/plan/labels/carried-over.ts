import type { Project, Service } from '../../compose/project.ts'
import type { Said } from './foreign-families.ts'

/** A label with its service, and the project in which to look for the devctl equivalent of the label. */
interface Compared {
  readonly said: Said
  readonly service: Service
  readonly project: Project
}

/**
 * Patterns of labels, each with a test for the devctl equivalent of such a label. The first pattern that matches the
 * label counts.
 */
const EQUIVALENTS: readonly (readonly [label: RegExp, isThere: (compared: Compared) => boolean])[] = [
  [
    /^kompose\.service\.type$/,
    ({ said, service }) =>
      said.value.toLowerCase() === 'headless'
        ? service.deploy.endpointMode?.value === 'dnsrr'
        : service.ports.some(({ expose }) => expose?.type.toLowerCase() === said.value.toLowerCase()),
  ],
  [
    /^kompose\.service\.nodeport\.port$/,
    ({ said, service }) => service.ports.some(({ expose }) => expose?.nodePort === Number(said.value)),
  ],
  [/^kompose\.service\.expose$/, isExposed],
  [
    /^kompose\.service\.expose\.tls-secret$/,
    compared => rulesOf(compared).some(({ hosts }) => hosts.some(({ tls }) => tls?.secret === compared.said.value)),
  ],
  [
    /^kompose\.service\.name_override$/,
    ({ said, service }) => service.networks.some(({ aliases }) => aliases.some(({ value }) => value === said.value)),
  ],
  [/^kompose\.service\.healthcheck\.readiness\./, ({ service }) => service.healthcheck?.readiness !== undefined],
  [
    /^kompose\.service\.healthcheck\.liveness\./,
    ({ service }) => service.healthcheck?.check.kind === 'http' && service.healthcheck.liveness.value,
  ],
  [
    /^kompose\.controller\.type$/,
    ({ said, service }) =>
      said.value.toLowerCase() === 'daemonset'
        ? service.deploy.mode?.value === 'global'
        : said.value.toLowerCase() === 'statefulset' && service.mounts.some(({ type }) => type === 'volume'),
  ],
  [/^kompose\.image-pull-policy$/, ({ service }) => service.pullPolicy !== undefined],
  [/^kompose\.security-context\.fsgroup$/, ({ service }) => service.groupAdd.length > 0],
  [/^kompose\.hpa\./, ({ service }) => service.autoscale !== undefined],
  [/^kompose\.volume\.size$/, compared => hasOption(compared, 'size')],
  [/^kompose\.volume\.storage-class-name$/, compared => hasOption(compared, 'class')],
  [/^traefik\.(?:http\.routers\.[^.]+|frontend)\.rule$/i, isExposed],
  [
    /^traefik\.(?:http\.services\.[^.]+\.loadbalancer\.server\.port|port)$/i,
    compared => rulesOf(compared).some(({ port }) => port.value === Number(compared.said.value)),
  ],
  [
    /^dev\.okteto\.com\/(?:update|policy)$/,
    ({ said, service }) => service.labels.some(({ name }) => name === `dev.platform/${said.name.split('/')[1]}`),
  ],
]

/**
 * True if the Compose file already has the devctl equivalent of another tool's label, as after `devctl migrate`. Such a
 * label stays in the file for the other tool and needs no further warning.
 */
export function isCarriedOver(said: Said, project: Project): boolean {
  const service = said.service === undefined ? undefined : project.services.get(said.service)
  const [, isThere] = EQUIVALENTS.find(([label]) => label.test(said.name)) ?? []
  return service !== undefined && isThere?.({ said, service, project }) === true
}

const rulesOf = ({ service, project }: Compared) =>
  (project.endpoints?.endpoints ?? []).flatMap(({ rules }) => rules.filter(one => one.service.value === service.name))

/** True if a rule routes to the service. If the label names a host, the rule must have that host. */
function isExposed(compared: Compared): boolean {
  const { value } = compared.said
  const rules = rulesOf(compared)
  const isNamed = rules.some(({ hosts }) => hosts.some(({ name }) => value.includes(name.value)))
  const namesHost = /[\w-]\.[a-z]/i.test(value.replace(/\/.*/, ''))
  return namesHost ? isNamed : rules.length > 0
}

function hasOption({ said, service, project }: Compared, option: string): boolean {
  return service.mounts.some(mount => {
    const volume = mount.type === 'volume' && mount.source !== undefined ? project.volumes.get(mount.source) : undefined
    return volume?.driverOpts.some(({ name, value }) => name === option && value === said.value) ?? false
  })
}
