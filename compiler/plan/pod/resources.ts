import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import type { ContainerPlan } from '../plan.ts'

const allDevices = diagnostic({
  code: 'gpus/all',
  severity: 'warning',
  loss: true,
  explain:
    'A Pod asks for a number of devices; it cannot ask for all that a node has. It gets one. Write the number that it needs.',
  text: () => ({ message: 'a Pod cannot ask for all devices of a node; it asks for 1', hint: 'write `count: N`' }),
})

const deviceIds = diagnostic({
  code: 'gpus/device-ids',
  severity: 'warning',
  loss: true,
  explain:
    'Which device of a node a Pod gets is decided by the device plugin. The ids are left out; their number counts.',
  text: (p: { count: number }) => ({
    message: `a Pod cannot choose devices by \`device_ids\`; it asks for ${p.count}`,
    hint: 'write `count` instead',
  }),
})

const driverOptions = diagnostic({
  code: 'gpus/options',
  severity: 'warning',
  loss: true,
  explain:
    'Compose hands `options` to the driver of the device. In a cluster a device plugin gives the device out, and a Pod has no field for its settings. They are left out.',
  text: () => ({
    message: 'a Pod has no options for its devices; they are left out',
    hint: 'configure the device plugin of the cluster',
  }),
})

const noResource = diagnostic({
  code: 'gpus/unknown-device',
  severity: 'warning',
  loss: true,
  explain:
    'Devices are given out by plugins of the cluster under a name such as `nvidia.com/gpu`. For this request no such name is known, so it is left out. A generic resource with a `kind` such as `example.com/device` is passed on as it is.',
  text: () => ({
    message: 'no resource of a cluster is known for this device, and the request is left out',
    hint: 'use `generic_resources` with the name that the device plugin announces',
  }),
})

/**
 * Requests and limits of a container. Extended resources have equal requests and limits, so only the limit is written.
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
    if (count > 0) limited[resource] = String(count)
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
