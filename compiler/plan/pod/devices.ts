import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import { slug } from '../object-names.ts'
import type { StoredMount } from '../storage/stored-mount.ts'

const notGiven = diagnostic({
  code: 'devices/not-given',
  severity: 'warning',
  loss: true,
  explain: `A container can use a device of its node only if a device plugin of the cluster assigns it, or if the container is privileged. Neither is the case here, so the device is left out.

\`\`\`yaml
deploy:
  resources:
    reservations:
      generic_resources:
        - discrete_resource_spec: {kind: example.com/serial, value: 1}
\`\`\``,
  text: (p: { device: string }) => ({
    message: `the device \`${p.device}\` needs a device plugin or a privileged container and is left out`,
    hint: 'request the resource of a device plugin with `generic_resources`',
  }),
})

const ofNode = diagnostic({
  code: 'devices/of-node',
  severity: 'warning',
  loss: true,
  explain:
    'The container is privileged, so it can use the devices of the node where the Pod runs, not those of your machine. Select the node with `x-node-selector`.',
  text: (p: { device: string }) => ({
    message: `\`${p.device}\` is a device of the node where the Pod runs`,
    hint: 'select the node with `x-node-selector`',
  }),
})

/**
 * Plans mounts for the devices of the node that a privileged container can use, and warns that the devices belong to
 * the node. Reports all other devices, which the container does not get.
 */
export function planDevices({ reporter }: PlanContext, service: Service): readonly StoredMount[] {
  return service.devices.flatMap(({ source, target, span }) => {
    if (!service.privileged?.value || !source.startsWith('/dev/')) {
      reporter.report(notGiven, span, { device: source })
      return []
    }
    reporter.report(ofNode, span, { device: source })
    return [{ target, readOnly: false, span, held: { kind: 'hostPath', name: slug(source), path: source } }]
  })
}
