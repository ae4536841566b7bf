import { mapped } from '../../schema/row.ts'
import { anyOf, either, list, object, record, type Shape, text } from '../../schema/shape.ts'
import { get } from '../../text/tree.ts'
import { portNumber } from './lifecycle.ts'
import * as merge from './merge-rules.ts'

/** The source of a host's certificate: a Secret or a cert-manager issuer. */
export const tls: Shape = object({
  secret: mapped(text(), 'the Secret with the certificate, yours or the issuer’s', 'with an issuer: `ROUTE-tls`'),
  issuer: mapped(text(), 'the annotation `cert-manager.io/issuer`'),
  clusterIssuer: mapped(text(), 'the annotation `cert-manager.io/cluster-issuer`'),
})

const host: Shape = either(
  text(),
  object({ name: mapped(text(), 'the host'), tls: mapped(tls, 'its certificate') }, { required: ['name'] }),
)

/** Custom host names: a single host name or a list. */
export const hosts: Shape = either(host, list(host))

const ownHosts = {
  host: mapped(hosts, 'a separate route for each host', 'in addition to the generated host of the endpoint'),
  tls: mapped(tls, 'the certificate of these hosts', 'default: the certificate of the environment'),
}

const endpointRules = list(
  object(
    {
      path: mapped(text(), 'path of the rule'),
      service: mapped(text(), 'its Service'),
      port: mapped({ ...portNumber(), cast: 'integer' }, 'port of the Service'),
      ...ownHosts,
    },
    { required: ['path', 'service', 'port'] },
  ),
)

const endpointLabels = record(anyOf('string', 'number', 'boolean', 'null'))

const labelled = object(
  {
    labels: mapped(endpointLabels, 'annotations of the routes'),
    rules: mapped(endpointRules, 'the route'),
    ...ownHosts,
  },
  { required: ['rules'] },
)

const rulesOrLabelled: Shape = { ...either(endpointRules, labelled), merge: merge.rulesByPath }

const named = record(mapped(rulesOrLabelled, 'a route with the name as its host'), {
  called: 'ENDPOINT',
})

/**
 * The three notations of `endpoints`: a list of rules, rules by endpoint name, or a mapping with `rules` and `labels`.
 * A mapping uses the third notation if it has `rules`, or if its `labels` are a mapping.
 */
export const endpoints: Shape = {
  merge: merge.endpoints,
  list: endpointRules.list!,
  map: {
    ...named.map!,
    keys: labelled.map!.keys,
    choose: tree => (tree.entries.has('rules') || get(tree, 'labels')?.kind === 'map' ? labelled.map! : named.map!),
    notations: [labelled.map!, named.map!],
  },
}
