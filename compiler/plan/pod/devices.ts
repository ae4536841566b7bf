import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import { slug } from '../object-names.ts'
import type { StoredMount } from '../storage/stored-mount.ts'

const notGiven = diagnostic({
  code: 'devices/not-given',
  severity: 'warning',
  loss: true,
  explain: `A container may open a device of its node only when a device plugin of the cluster gives it out, or when the container is privileged. This one is neither, so the device is left out.

\`\`\`yaml
deploy:
  resources:
    reservations:
      generic_resources:
        - discrete_resource_spec: {kind: example.com/serial, value: 1}
\`\`\``,
  text: (p: { device: string }) => ({
    message: `the device \`${p.device}\` cannot be given to an ordinary container, and is left out`,
    hint: 'ask for the resource of a device plugin with `generic_resources`',
  }),
})

const ofNode = diagnostic({
  code: 'devices/of-node',
  severity: 'warning',
  loss: true,
  explain:
    'The container is privileged, so it can open devices of its node: of whatever node the Pod runs on, not of your machine. Choose the node with `x-node-selector`.',
  text: (p: { device: string }) => ({
    message: `\`${p.device}\` is the device of whatever node the Pod runs on`,
    hint: 'choose the node with `x-node-selector`',
  }),
})

/** Devices of the node for a privileged container. Reports those that nothing gives. */
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
