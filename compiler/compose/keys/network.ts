import { isEmpty, isFalse, isOneOf, isTrue, isZero } from '../../schema/harmless.ts'
import { mapped, none, unusable } from '../../schema/row.ts'
import {
  anyOf,
  either,
  flag,
  integer,
  keyValues,
  list,
  object,
  options,
  orNull,
  record,
  resourceName,
  type Shape,
  strictNumber,
  text,
  textOrList,
  word,
} from '../../schema/shape.ts'
import { hosts } from './endpoints.ts'
import { portNumber } from './lifecycle.ts'

/** Connections from outside that are not HTTP. */
const outsideHttp = object(
  {
    type: mapped(word(['LoadBalancer', 'NodePort']), '`type`'),
    nodePort: mapped(portNumber(), '`nodePort`', 'default: the cluster chooses'),
    annotations: mapped(keyValues(), 'annotations', 'what load balancers of clouds read'),
    loadBalancerClass: mapped(text(), '`loadBalancerClass`'),
    sourceRanges: mapped(list(text()), '`loadBalancerSourceRanges`', 'CIDRs'),
  },
  { required: ['type'] },
)

/** `host: address`, `host: [addresses]`, or a list of `host=address`. */
export const extraHosts: Shape = either(
  record(either(text(), list(text())), { called: 'HOST' }),
  list(text(), { unique: true }),
)

const address = {
  family: 'static-address',
  note: 'a Pod has another address at every start',
  why: 'A Pod gets its address when it starts and another one when it starts again. What peers use is the name of the service, which stays.',
  hint: 'use the name of the service instead of the address',
}

const attachment = {
  family: 'network-attachment',
  note: 'a Pod has one network interface',
  why: 'A Pod has one network interface, and the cluster’s network plugin sets it up. There is nothing to choose between networks or to set for one of them.',
}

const clusterNetwork = {
  family: 'network-driver',
  note: 'the cluster has one network, of its own',
  why: 'The cluster has one network, made by its network plugin. The networks of the file become policies about who may talk to whom.',
}

/** How a container is reached and what it reaches: keys of services, jobs and pre_start hooks. */
export const network = {
  network_mode: mapped(
    text(),
    '`hostNetwork`; `none`: a NetworkPolicy that denies all',
    '`service:x`: one Pod with that service',
  ),
  networks: mapped(
    either(
      list(text(), { unique: true }),
      record(
        mapped(
          orNull(
            object({
              aliases: mapped(list(text()), 'a Service for each alias'),
              use_service_name_alias: none(flag(), {
                family: 'service-name-alias',
                message: '`use_service_name_alias: false` has no effect: the service can be reached by its name',
                why: 'Every service gets a Kubernetes Service of its name, on one network for all.',
                harmless: isTrue,
              }),
              ipv4_address: none(text(), address),
              ipv6_address: none(text(), address),
              link_local_ips: none(list(text()), { ...address, harmless: isEmpty }),
              interface_name: none(text(), attachment),
              mac_address: none(text(), attachment),
              driver_opts: none(options(), { ...attachment, harmless: isEmpty }),
              priority: none(strictNumber(), { ...attachment, harmless: isZero }),
              gw_priority: none(strictNumber(), { ...attachment, harmless: isZero }),
            }),
          ),
          'a label of the Pods, which the network’s NetworkPolicy selects',
        ),
        { names: resourceName, called: 'NETWORK' },
      ),
    ),
    'NetworkPolicies, when the file separates its services',
  ),
  mac_address: none(text(), { ...attachment }),
  hostname: mapped(text(), '`hostname` of the Pod', 'peers reach the service by its name, as in Compose'),
  domainname: none(text(), {
    why: 'The name that a Pod gives itself has no domain part of its own in the clusters of today.',
    hint: 'give peers a name for it with `networks.default.aliases`',
  }),
  dns: mapped(
    textOrList(),
    '`dnsConfig.nameservers`',
    'after the cluster’s own, or the names of services would not be found; three at most',
  ),
  dns_search: mapped(textOrList(), '`dnsConfig.searches`'),
  dns_opt: mapped(list(text()), '`dnsConfig.options`'),
  extra_hosts: mapped(extraHosts, '`hostAliases`', '`host-gateway` has no equivalent (warning)'),
}

/** How a service is reached: keys of services and jobs. */
export const exposure = {
  ports: mapped(
    list(
      either(
        anyOf('string', 'number'),
        object(
          {
            target: mapped(integer(), '`containerPort`, and a port of the Service'),
            published: mapped(
              anyOf('string', 'integer'),
              'an HTTPS route, and a port of the Service',
              'not for ports of databases and debuggers (warning): use `endpoints` for them. `0`, a port of the engine’s choice, is not public (warning)',
            ),
            host_ip: mapped(text(), 'a loopback address: no route (warning)', 'others are left out (warning)'),
            protocol: mapped(text(), '`protocol`', '`tcp`, `udp`, `sctp`'),
            app_protocol: mapped(text(), '`appProtocol` of the Service', 'names that Kubernetes refuses get a warning'),
            mode: mapped(word(['ingress', 'host', '']), '`host`: `hostPort` (warning)'),
            name: mapped(text(), 'the name of the port', 'cut to 15 characters'),
            'x-host': mapped(
              hosts,
              'a route of its own for each of these hosts',
              'of the dialect; beside the port’s own address',
            ),
            'x-expose': mapped(
              outsideHttp,
              'a Service of that type',
              'of the dialect; takes the place of the HTTPS route',
            ),
          },
          { required: ['target'] },
        ),
      ),
    ),
    'ports of the Service; a published one also an HTTPS route',
  ),
  expose: mapped(list(anyOf('string', 'number')), 'ports of the container and the Service'),
}

/** A network of the file. */
export const topLevelNetwork: Shape = orNull(
  object({
    name: unusable(text(), 'labels and policies go by the key'),
    internal: mapped(flag(), 'no way out but to members and the cluster’s DNS'),
    external: mapped(
      either(flag(), object({ name: text() })),
      'a label only',
      'the network is taken to be the namespace (warning)',
    ),
    labels: mapped(
      either(record(anyOf('string', 'number', 'boolean', 'null')), list(text())),
      'annotations of the NetworkPolicy',
    ),
    attachable: unusable(flag(), 'nothing to do: Pods may always join'),
    driver: none(text(), {
      ...clusterNetwork,
      harmless: isOneOf('bridge', 'overlay', 'default', ''),
    }),
    driver_opts: none(options(), {
      ...clusterNetwork,
      harmless: isEmpty,
    }),
    ipam: none(
      object({
        driver: text(),
        config: list(object({ subnet: text(), ip_range: text(), gateway: text(), aux_addresses: record(text()) })),
        options: record(text()),
      }),
      {
        why: 'The cluster gives out the addresses. A Pod has another one at every start.',
        hint: 'use the names of services instead of addresses',
        harmless: isEmpty,
      },
    ),
    enable_ipv4: none(flag(), {
      family: 'address-family',
      why: 'Which families of addresses there are is decided for the cluster.',
      harmless: isTrue,
    }),
    enable_ipv6: none(flag(), {
      family: 'address-family',
      why: 'Which families of addresses there are is decided for the cluster.',
      harmless: isFalse,
    }),
  }),
)
