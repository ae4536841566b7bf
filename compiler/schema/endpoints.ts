import { get } from '../syntax/tree.ts'
import { portNumber } from './lifecycle.ts'
import { mapped } from './row.ts'
import { anyOf, list, object, record, type Shape, text } from './shape.ts'

const endpointRules = list(
  object(
    {
      path: mapped(text(), 'path of the rule'),
      service: mapped(text(), 'its Service'),
      port: mapped(portNumber(), 'port of the Service'),
    },
    { required: ['path', 'service', 'port'] },
  ),
)

const endpointLabels = record(anyOf('string', 'number', 'boolean', 'null'))

const named = record(mapped(endpointRules, 'a route with the name as its host'), { called: 'ENDPOINT' })

const labelled = object(
  { labels: mapped(endpointLabels, 'annotations of the routes'), rules: mapped(endpointRules, 'the route') },
  { required: ['rules'] },
)

/**
 * The three notations of `endpoints` (specification, endpoint objects): rules, rules by name, and an object with labels. The last two are
 * both mappings: what has `rules`, or labels that are no list of rules, is the object.
 */
export const endpoints: Shape = {
  list: endpointRules.list!,
  map: {
    ...named.map!,
    keys: labelled.map!.keys,
    choose: tree => (tree.entries.has('rules') || get(tree, 'labels')?.kind === 'map' ? labelled.map! : named.map!),
    notations: [labelled.map!, named.map!],
  },
}
