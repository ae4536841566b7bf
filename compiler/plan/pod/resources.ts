import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { countQuantity } from '../../values/numbers/quantity.ts'
import type { PlanContext } from '../context.ts'
import type { ContainerPlan } from '../plan.ts'

const allDevices = diagnostic({
  code: 'gpus/all',
  severity: 'warning',
  loss: true,
  explain:
    'A Pod requests a number of devices; it cannot request all devices of a node. It gets one. Write the number that it needs.',
  text: () => ({ message: 'a Pod cannot request all devices of a node; it requests 1', hint: 'write `count: N`' }),
})

const deviceIds = diagnostic({
  code: 'gpus/device-ids',
  severity: 'warning',
  loss: true,
  explain:
    'The device plugin chooses the device of the node that a Pod gets. The ids are left out; the Pod requests as many devices as there are ids.',
  text: (p: { count: number }) => ({
    message: `a Pod cannot choose devices by \`device_ids\`; it requests ${p.count}`,
    hint: 'write `count` instead',
  }),
})

const driverOptions = diagnostic({
  code: 'gpus/options',
  severity: 'warning',
  loss: true,
  explain:
    'Compose passes `options` to the driver of the device. In a cluster a device plugin assigns the device, and a Pod has no field for driver options. They are left out.',
  text: () => ({
    message: 'device `options` have no equivalent in Kubernetes and are left out',
    hint: 'configure the device plugin of the cluster',
  }),
})

const noResource = diagnostic({
  code: 'gpus/unknown-device',
  severity: 'warning',
  loss: true,
  explain:
    'Device plugins of a cluster offer devices as extended resources such as `nvidia.com/gpu`. devctl does not know the extended resource for this request, so it is left out. A generic resource with a `kind` such as `example.com/device` is passed on unchanged.',
  text: () => ({
    message: 'the device has no known extended resource; the request is left out',
    hint: 'use `generic_resources` with the resource name of the device plugin',
  }),
})

/**
 * Plans the resource requests and limits of a container. Extended resources have equal requests and limits, so only the
 * limit is written.
 */
export function planResources({ reporter }: PlanContext, service: Service): ContainerPlan['resources'] {
  const { limits, requests } = service.resources
  const devices = new Map<string, number>()
  for (const request of service.gpus) {
    if (!request.resource) {
      reporter.report(noResource, request.span, undefined)
      continue
    }
    const count = request.count === -1 ? 1 : request.count
    if (request.options) reporter.report(driverOptions, request.options, undefined)
    if (request.deviceIds) reporter.report(deviceIds, request.span, { count })
    else if (request.count === -1) reporter.report(allDevices, request.span, undefined)
    devices.set(request.resource, (devices.get(request.resource) ?? 0) + count)
  }
  const limited: Record<string, string> = {
    ...(limits.cpu && { cpu: limits.cpu.value }),
    ...(limits.memory && { memory: limits.memory.value }),
    ...(limits.ephemeralStorage && { 'ephemeral-storage': limits.ephemeralStorage.value }),
  }
  for (const [resource, count] of [...devices].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (count > 0) limited[resource] = countQuantity(count)
  const requested: Record<string, string> = {
    ...(requests.cpu && { cpu: requests.cpu.value }),
    ...(requests.memory && { memory: requests.memory.value }),
  }
  const plan = {
    ...(Object.keys(requested).length > 0 && { requests: requested }),
    ...(Object.keys(limited).length > 0 && { limits: limited }),
  }
  return Object.keys(plan).length > 0 ? plan : undefined
}
