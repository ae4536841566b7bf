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
    annotations: mapped(keyValues(), 'annotations', 'settings of the cloud’s load balancer'),
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
  note: 'a Pod has a new address at every start',
  why: 'A Pod gets a new address whenever it starts. Peers use the name of the service, which is stable.',
  hint: 'use the name of the service instead of the address',
}

const attachment = {
  family: 'network-attachment',
  note: 'a Pod has one network interface',
  why: 'A Pod has one network interface, and the cluster’s network plugin sets it up. It has no networks to choose from and nothing to set for each of them.',
}

const clusterNetwork = {
  family: 'network-driver',
  note: 'the cluster has one network',
  why: 'The cluster has one network, which its network plugin provides. The networks of the file become NetworkPolicies that control which Pods may connect.',
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
                message: '`use_service_name_alias: false` has no effect: the service is reachable by its name',
                why: 'Every service gets a Kubernetes Service with its name, on the one network of the cluster.',
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
          'a Pod label that the NetworkPolicy of the network selects',
        ),
        { names: resourceName, called: 'NETWORK' },
      ),
    ),
    'NetworkPolicies, when the file separates its services',
  ),
  mac_address: none(text(), { ...attachment }),
  hostname: mapped(text(), '`hostname` of the Pod', 'peers reach the service by its name, as in Compose'),
  domainname: none(text(), {
    why: 'In current clusters a Pod cannot set the domain part of its host name.',
    hint: 'to give it another name, use `networks.default.aliases`',
  }),
  dns: mapped(
    textOrList(),
    '`dnsConfig.nameservers`',
    'after the cluster’s own, which resolve service names; at most three',
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
              'not for database and debugger ports (warning): use `endpoints` for them. `0` (the engine chooses a port) is not public (warning)',
            ),
            host_ip: mapped(text(), 'a loopback address: no route (warning)', 'others are left out (warning)'),
            protocol: mapped(text(), '`protocol`', '`tcp`, `udp`, `sctp`'),
            app_protocol: mapped(text(), '`appProtocol` of the Service', 'invalid names get a warning'),
            mode: mapped(word(['ingress', 'host', '']), '`host`: `hostPort` (warning)'),
            name: mapped(text(), 'the name of the port', 'cut to 15 characters'),
            'x-host': mapped(
              hosts,
              'a separate route for each host',
              'of the dialect; in addition to the generated host',
            ),
            'x-expose': mapped(outsideHttp, 'a Service of that type', 'of the dialect; replaces the HTTPS route'),
          },
          { required: ['target'] },
        ),
      ),
    ),
    'ports of the Service; a published port also gets an HTTPS route',
  ),
  expose: mapped(list(anyOf('string', 'number')), 'ports of the container and the Service'),
}

/** A network of the file. */
export const topLevelNetwork: Shape = orNull(
  object({
    name: unusable(text(), 'labels and policies use the key'),
    internal: mapped(flag(), 'egress to members and the cluster’s DNS only'),
    external: mapped(either(flag(), object({ name: text() })), 'a label only', 'treated as the namespace (warning)'),
    labels: mapped(
      either(record(anyOf('string', 'number', 'boolean', 'null')), list(text())),
      'annotations of the NetworkPolicy',
    ),
    attachable: unusable(flag(), 'not needed: Pods may always join'),
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
        why: 'The cluster assigns the addresses. A Pod has a new one at every start.',
        hint: 'use service names instead of addresses',
        harmless: isEmpty,
      },
    ),
    enable_ipv4: none(flag(), {
      family: 'address-family',
      why: 'IPv4 and IPv6 are configured for the whole cluster.',
      harmless: isTrue,
    }),
    enable_ipv6: none(flag(), {
      family: 'address-family',
      why: 'IPv4 and IPv6 are configured for the whole cluster.',
      harmless: isFalse,
    }),
  }),
)
