import { mapped, none, unusable } from '../../schema/row.ts'
import {
  anyOf,
  either,
  flag,
  inDigits,
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
  word,
} from '../../schema/shape.ts'
import { isEmpty, isFalse, isOneOf, isTrue, isZero } from '../../schema/value-predicates.ts'
import {
  readDnsOptions,
  readExtraHosts,
  readNameServers,
  readSearchDomains,
  readServiceNetworks,
} from '../read/network/networks.ts'
import { readPorts } from '../read/network/ports.ts'
import * as read from '../read/plain-values.ts'
import * as defaults from './compose-defaults.ts'
import { hosts } from './endpoints.ts'
import { addedTexts, castFlag, castInteger, names } from './forms.ts'
import * as identity from './identities.ts'
import type { Keys } from './key.ts'
import { portNumber } from './lifecycle.ts'
import * as long from './long-forms.ts'
import * as merge from './merge-rules.ts'
import * as print from './print.ts'
import { printHosts } from './print-special.ts'

/** `x-expose`: non-HTTP connections from outside the cluster. */
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
export const extraHosts: Shape = {
  ...either(record(either(text(), list(text())), { called: 'HOST' }), list(text(), { unique: true })),
  merge: merge.texts,
  print: printHosts,
}

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

const order = (): Shape => ({ ...strictNumber(), print: print.integer })

/** Network keys of a container, shared by services, jobs and pre_start hooks. */
export const network = {
  network_mode: {
    ...mapped(
      text(),
      '`hostNetwork`; `none`: a NetworkPolicy that denies all',
      '`service:x`: one Pod with that service',
    ),
    read: { networkMode: read.text },
  },
  networks: {
    ...mapped(
      {
        ...either(
          list(text(), { unique: true }),
          record(
            mapped(
              orNull(
                object({
                  aliases: mapped(names(), 'a Service for each alias', 'a Pod can have one with a dot'),
                  use_service_name_alias: none(
                    { ...castFlag(), print: print.optionalFlag },
                    {
                      family: 'service-name-alias',
                      message: '`use_service_name_alias: false` has no effect: the service is reachable by its name',
                      why: 'Every service gets a Kubernetes Service with its name, on the one network of the cluster.',
                      harmless: isTrue,
                    },
                  ),
                  ipv4_address: none(text(), address),
                  ipv6_address: none(text(), address),
                  link_local_ips: none(names(), { ...address, harmless: isEmpty }),
                  interface_name: none(text(), attachment),
                  mac_address: none(text(), attachment),
                  driver_opts: none(options(), { ...attachment, harmless: isEmpty }),
                  priority: none(order(), { ...attachment, harmless: isZero }),
                  gw_priority: none(order(), { ...attachment, harmless: isZero }),
                }),
              ),
              'a Pod label that the NetworkPolicy of the network selects',
            ),
            { names: resourceName, called: 'NETWORK' },
          ),
        ),
        long: long.names,
        merge: merge.names,
      },
      'NetworkPolicies, when the file separates its services',
    ),
    read: { networks: readServiceNetworks },
  },
  mac_address: none(text(), { ...attachment }),
  hostname: {
    ...mapped(text(), '`hostname` of the Pod', 'peers reach the service by its name, as in Compose'),
    read: { hostname: read.text },
  },
  domainname: none(text(), {
    why: 'In current clusters a Pod cannot set the domain part of its host name.',
    hint: 'to give it another name, use `networks.default.aliases`',
  }),
  dns: {
    ...mapped(
      { ...addedTexts(), long: long.nameServers },
      '`dnsConfig.nameservers`',
      'after the cluster’s own, which resolve service names; at most three',
    ),
    read: { dns: readNameServers },
  },
  dns_search: { ...mapped(addedTexts(), '`dnsConfig.searches`'), read: { dnsSearch: readSearchDomains } },
  dns_opt: { ...mapped({ ...names(), merge: merge.texts }, '`dnsConfig.options`'), read: { dnsOpt: readDnsOptions } },
  extra_hosts: {
    ...mapped(extraHosts, '`hostAliases`', '`host-gateway` has no equivalent (warning)'),
    read: { extraHosts: readExtraHosts },
  },
} satisfies Keys

/** Port keys, shared by services and jobs. */
export const exposure = {
  ports: {
    ...mapped(
      {
        ...list({
          ...either(
            inDigits(anyOf('string', 'number')),
            object(
              {
                target: mapped(castInteger(), '`containerPort`, and a port of the Service'),
                published: mapped(
                  inDigits(anyOf('string', 'integer')),
                  'an HTTPS route, and a port of the Service',
                  'not for database and debugger ports (warning): use `endpoints` for them. `0` (the engine chooses a port) is not public (warning)',
                ),
                host_ip: mapped(text(), 'a loopback address: no route (warning)', 'others are left out (warning)'),
                protocol: mapped(text(), '`protocol`', '`tcp`, `udp`, `sctp`'),
                app_protocol: mapped(
                  text(),
                  '`appProtocol` of the Service',
                  'invalid names get a warning; a protocol other than HTTP has no route, one over TLS an HTTPS backend',
                ),
                mode: mapped(word(['ingress', 'host', '']), '`host`: `hostPort` (warning)'),
                name: mapped(text(), 'the name of the port', 'cut to 15 characters'),
                'x-host': mapped(
                  { ...hosts, print: print.asIs },
                  'a separate route for each host',
                  'of the dialect; in addition to the generated host',
                ),
                'x-expose': mapped(
                  { ...outsideHttp, print: print.asIs },
                  'a Service of that type',
                  'of the dialect; replaces the HTTPS route',
                ),
              },
              { required: ['target'] },
            ),
          ),
          defaults: defaults.port,
        }),
        long: long.ports,
        identity: identity.port,
      },
      'ports of the Service; a published port also gets an HTTPS route',
    ),
    read: readPorts,
  },
  expose: {
    ...mapped(
      { ...list(inDigits(anyOf('string', 'number'))), identity: identity.scalar },
      'ports of the container and the Service',
    ),
    read: readPorts,
  },
} satisfies Keys

const networkSection: Shape = orNull(
  object({
    name: mapped(text(), 'keys with the same name are one network', 'labels and policies use the first key'),
    internal: mapped(
      castFlag(),
      'egress to members and the cluster’s DNS only',
      'a service in no other network publishes no ports (warning)',
    ),
    external: mapped(
      { ...either(flag(), object({ name: text() })), cast: 'boolean', print: print.flag },
      'a label only',
      'treated as the namespace (warning)',
    ),
    labels: mapped(
      {
        ...either(record(anyOf('string', 'number', 'boolean', 'null')), list(text())),
        merge: merge.pairs,
        identity: identity.name,
        print: print.labels,
      },
      'annotations of the NetworkPolicy',
    ),
    attachable: unusable(castFlag(), 'not needed: Pods may always join'),
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
        config: {
          ...list(object({ subnet: text(), ip_range: text(), gateway: text(), aux_addresses: record(text()) })),
          merge: merge.addressPools,
        },
        options: record(text()),
      }),
      {
        why: 'The cluster assigns the addresses. A Pod has a new one at every start.',
        hint: 'use service names instead of addresses',
        harmless: isEmpty,
      },
    ),
    enable_ipv4: none(
      { ...castFlag(), print: print.optionalFlag },
      {
        family: 'address-family',
        why: 'IPv4 and IPv6 are configured for the whole cluster.',
        harmless: isTrue,
      },
    ),
    enable_ipv6: none(
      { ...castFlag(), print: print.optionalFlag },
      {
        family: 'address-family',
        why: 'IPv4 and IPv6 are configured for the whole cluster.',
        harmless: isFalse,
      },
    ),
  }),
)

/** An entry of the top-level `networks`. */
export const topLevelNetwork: Shape = {
  ...networkSection,
  long: long.external,
  always: { ipam: print.emptyMap },
}
