import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../../diagnostics/reporter.ts'
import type { Span } from '../../../text/source.ts'
import { entry, get, isMap, isSeq, type MapTree, type Tree } from '../../../text/tree.ts'
import { scalarText } from '../../../text/tree-text.ts'
import { isIp } from '../../../values/ip-address.ts'
import { reportIncomplete } from '../../read/storage/mount-targets.ts'
import { servicesAndJobs } from '../service-sections.ts'

const externalWithMore = diagnostic({
  code: 'schema/external-with-more',
  severity: 'error',
  explain:
    'A resource with `external: true` exists already and is only referenced. Nothing but its `name` can be set here. Remove the other keys, or `external`.',
  text: (p: { name: string; key: string }) => ({
    message: `\`${p.name}\` is external, so \`${p.key}\` cannot be set`,
    hint: `remove \`${p.key}\`, or \`external\``,
  }),
})
const severalContents = diagnostic({
  code: 'schema/several-contents',
  severity: 'error',
  explain: 'A config or secret has one source for its content: `file`, `environment`, or, for a config, `content`.',
  text: (p: { name: string; keys: readonly string[] }) => ({
    message: `\`${p.name}\` has ${p.keys.map(key => `\`${key}\``).join(' and ')}; only one of them is allowed`,
  }),
})
const noContent = diagnostic({
  code: 'schema/no-content',
  severity: 'error',
  explain:
    'A config or secret needs a source for its content: `file`, `environment`, or, for a config, `content`. If it already exists in the cluster, write `external: true`.',
  text: (p: { name: string; keys: readonly string[] }) => ({
    message: `\`${p.name}\` has no content`,
    hint: `add ${p.keys.map(key => `\`${key}\``).join(' or ')}, or \`external: true\``,
  }),
})
const badHostIp = diagnostic({
  code: 'ports/bad-host-ip',
  severity: 'error',
  explain: 'The address before a published port must be an IP address (`127.0.0.1:8080:80`), not a host name.',
  text: (p: { text: string }) => ({ message: `\`${p.text}\` is not an IP address` }),
})
const blankPath = diagnostic({
  code: 'develop/blank-path',
  severity: 'error',
  explain: 'A `develop.watch` rule needs a `path`: the file or folder to watch, relative to the project.',
  text: (_: Record<never, never>) => ({ message: '`path` is empty' }),
})
const countAndIds = diagnostic({
  code: 'gpus/count-and-ids',
  severity: 'error',
  explain: 'A device request has either a `count` of devices or a list of `device_ids`.',
  text: (_: Record<never, never>) => ({
    message: '`count` and `device_ids` cannot be combined',
    hint: 'remove one of them',
  }),
})

/**
 * Checks rules within one resource or service that the schema cannot express. Returns the invalid services, and the
 * invalid resources in the form `volumes.data`. Does not report missing keys in a partial model.
 */
export function checkResources(
  model: MapTree,
  reporter: Reporter,
  { isPartial }: { readonly isPartial: boolean },
): { readonly resources: readonly string[]; readonly services: readonly string[] } {
  const invalid: string[] = []
  const services: string[] = []
  for (const section of ['volumes', 'networks', 'secrets', 'configs'] as const)
    for (const [name, resource, key] of entriesOf(get(model, section))) {
      const path = `${section}.${name}`
      if (!isExternalOnly(resource, name, reporter)) invalid.push(path)
      else if (isPartial && !hasContent(resource)) continue
      else if (section === 'secrets' && !hasOneContent(resource, key, ['file', 'environment'], false, reporter))
        invalid.push(path)
      else if (
        section === 'configs' &&
        !hasOneContent(resource, key, ['file', 'environment', 'content'], true, reporter)
      )
        invalid.push(path)
    }
  for (const [name, service] of servicesAndJobs(model))
    if (isMap(service) && !isValidService(service, reporter, isPartial)) services.push(name)
  return { resources: invalid, services }
}

function* entriesOf(tree: Tree | undefined): Iterable<readonly [name: string, value: MapTree, key: Span]> {
  if (isMap(tree)) for (const [name, { key, value }] of tree.entries) if (isMap(value)) yield [name, value, key]
}

const itemsOf = (tree: Tree | undefined): readonly Tree[] => (isSeq(tree) ? tree.items : [])

const hasContent = (resource: MapTree): boolean =>
  ['file', 'environment', 'content'].some(key => resource.entries.has(key))

const isExternal = (resource: MapTree): boolean => {
  const external = get(resource, 'external')
  return external?.kind === 'scalar' && external.value === true
}

function isExternalOnly(resource: MapTree, name: string, reporter: Reporter): boolean {
  if (!isExternal(resource)) return true
  // `config` prints an empty `ipam` for every network, so an empty mapping is allowed.
  const isEmpty = (value: Tree) => isMap(value) && value.entries.size === 0
  const extra = [...resource.entries].find(
    ([key, { value }]) => key !== 'name' && key !== 'external' && !key.startsWith('x-') && !isEmpty(value),
  )
  if (extra) reporter.report(externalWithMore, extra[1].key, { name, key: extra[0] })
  return !extra
}

function hasOneContent(
  resource: MapTree,
  key: Span,
  keys: readonly string[],
  driver: boolean,
  reporter: Reporter,
): boolean {
  const name = key.file.text.slice(key.start, key.end).replace(/^["']|["']$/g, '')
  const given = keys.filter(one => resource.entries.has(one))
  if (given.length > 1) {
    reporter.report(severalContents, resource.entries.get(given[1]!)!.key, { name, keys: given })
    return false
  }
  const only = given.length === 1 ? resource.entries.get(given[0]!)?.value : undefined
  // `environment` is empty if it contained a variable that is not set.
  const isEmpty = !driver && given[0] === 'environment' && only?.kind === 'scalar' && only.value === ''
  if (isEmpty) {
    reporter.report(noContent, only.span, { name, keys })
    return false
  }
  if (given.length === 1 || isExternal(resource) || (driver && resource.entries.has('driver'))) return true
  reporter.report(noContent, key, { name, keys })
  return false
}

function isValidService(service: MapTree, reporter: Reporter, isPartial: boolean): boolean {
  let isValid = true
  const fail = (report: () => void) => {
    report()
    isValid = false
  }
  for (const port of itemsOf(get(service, 'ports'))) {
    const ip = get(port, 'host_ip')
    if (ip?.kind === 'scalar' && !isIp(scalarText(ip)))
      fail(() => reporter.report(badHostIp, ip.span, { text: scalarText(ip) }))
  }
  for (const mount of itemsOf(get(service, 'volumes'))) {
    const type = get(mount, 'type')
    if (!isPartial && type?.kind === 'scalar' && type.value === 'bind' && !get(mount, 'source'))
      fail(() => reportIncomplete('bind', 'source', mount.span, { reporter }))
  }
  for (const rule of itemsOf(get(service, 'develop', 'watch'))) {
    const path = get(rule, 'path')
    if (path?.kind === 'scalar' && path.value === '') fail(() => reporter.report(blankPath, path.span, {}))
  }
  for (const request of [
    ...itemsOf(get(service, 'gpus')),
    ...itemsOf(get(service, 'deploy', 'resources', 'reservations', 'devices')),
  ]) {
    const ids = entry(request, 'device_ids')
    if (ids && entry(request, 'count')) fail(() => reporter.report(countAndIds, ids.key, {}))
  }
  return isValid
}
