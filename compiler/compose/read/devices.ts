import type { Reporter } from '../../diagnostics/reporter.ts'
import type { Span } from '../../text/source.ts'
import { entry, isMap, type MapTree, type Tree } from '../../text/tree.ts'
import { isExtendedResource } from '../../values/annotation.ts'
import type { DeviceRequest, Service } from '../project.ts'
import type { ReadContext } from './context.ts'
import { checkCount } from './counts.ts'
import { entries, integer, items, list, map, nonEmptyText } from './tree-values.ts'

// The extended resources of the vendors' device plugins:
// https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/
const gpuByDriver: ReadonlyMap<string, string> = new Map([
  ['nvidia', 'nvidia.com/gpu'],
  ['amd', 'amd.com/gpu'],
  ['intel', 'gpu.intel.com/i915'],
])
const tpu = 'google.com/tpu'

/** Reads `gpus`, device reservations and generic resources as requests for extended resources. */
export function readDeviceRequests(service: MapTree, { reporter }: ReadContext): readonly DeviceRequest[] {
  const reservations = map(service, 'deploy', 'resources', 'reservations')
  return [
    ...items(service, 'gpus').flatMap(item => readRequest(item, true, reporter)),
    ...items(reservations, 'devices').flatMap(item => readRequest(item, false, reporter)),
    ...items(reservations, 'generic_resources').flatMap(item => readGeneric(item, reporter)),
  ]
}

/** Reads `devices`. */
export const readDevices = (service: MapTree): Service['devices'] =>
  items(service, 'devices').filter(isMap).flatMap(readDevice)

function readRequest(tree: Tree, isGpu: boolean, reporter: Reporter): readonly DeviceRequest[] {
  if (!isMap(tree)) return []
  const ids = items(tree, 'device_ids').length
  const driver = nonEmptyText(tree, 'driver')?.value.toLowerCase()
  const capabilities = list(tree, 'capabilities').map(({ value }) => value.toLowerCase())
  // A request without a count and without device IDs asks for all devices, which Compose represents as -1.
  const count = checkCount(integer(tree, 'count'), 'count', reporter)?.value ?? (ids > 0 ? ids : -1)
  const resource =
    capabilities.includes('tpu') || driver === 'tpu'
      ? tpu
      : isGpu || capabilities.includes('gpu')
        ? gpuByDriver.get(driver ?? 'nvidia')
        : undefined
  const hasOptions = entries(tree, 'options').size > 0 || items(tree, 'options').length > 0
  return [
    {
      span: tree.span,
      ...(resource && { resource }),
      count,
      deviceIds: ids > 0,
      ...(hasOptions && { options: entry(tree, 'options')!.key }),
    },
  ]
}

function readGeneric(tree: Tree, reporter: Reporter): readonly DeviceRequest[] {
  const discrete = map(tree, 'discrete_resource_spec')
  const kind = nonEmptyText(discrete, 'kind')?.value
  if (!discrete || kind === undefined) return []
  const resource = isExtendedResource(kind) ? kind : /^(?:nvidia[-_])?gpu$/i.test(kind) ? 'nvidia.com/gpu' : undefined
  return [
    {
      span: tree.span,
      ...(resource && { resource }),
      count: checkCount(integer(discrete, 'value'), 'value', reporter)?.value ?? 1,
      deviceIds: false,
    },
  ]
}

function readDevice(tree: MapTree): { source: string; target: string; permissions: string; span: Span }[] {
  const source = nonEmptyText(tree, 'source')
  if (!source) return []
  return [
    {
      source: source.value,
      target: nonEmptyText(tree, 'target')?.value ?? source.value,
      permissions: nonEmptyText(tree, 'permissions')?.value ?? 'rwm',
      span: tree.span,
    },
  ]
}
