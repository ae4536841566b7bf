import type { Network, Port, Project, Service } from '../../compose/project.ts'
import { namespaceOwner } from '../workload/groups.ts'
import { publishedPort } from './published-port.ts'

/**
 * Returns the first network of a service, or of the service whose network it uses, if all of these networks are
 * internal. A container engine then publishes no port, because it publishes ports through a network with a gateway.
 */
export function internalNetworkOf(project: Project, service: Service): Network | undefined {
  const { networks } = namespaceOwner(project, service, 'networkMode')
  const found = networks.map(({ name }) => project.networks.get(name))
  return found.every(network => network?.internal) ? found[0] : undefined
}

/** Returns the ports of a service that open a port of the node (`mode: host`). */
export const hostModePorts = (project: Project, service: Service): readonly Port[] =>
  internalNetworkOf(project, service)
    ? []
    : service.ports.filter(port => port.mode === 'host' && publishedPort(port) !== undefined)
