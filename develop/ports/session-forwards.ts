import type { Development } from '../../compiler/manifest/development.ts'
import type { Forward } from '../../compiler/manifest/forward.ts'
import type { Session } from '../../project/session.ts'
import type { LocalForward } from './local-forward.ts'
import type { ForwardsInput } from './open-forwards.ts'

/**
 * Returns the forwards of a development container and of the manifest. The forwards of the manifest lead to the same
 * Services in each session. If another session already uses their ports, they wait until the ports are free.
 */
export function sessionForwards(
  { forward, reverse, interface: address }: Development,
  global: readonly Forward[],
  session: Session,
): Omit<ForwardsInput, 'link'> {
  const own = new Set(forward.map(({ localPort }) => localPort))
  return {
    forwards: [
      ...forward.map(one => toLocalForward(one, 'move', session)),
      ...global.filter(({ localPort }) => !own.has(localPort)).map(one => toLocalForward(one, 'wait', session)),
    ],
    reverse,
    address,
  }
}

function toLocalForward(
  { localPort, remotePort, service, labels }: Forward,
  whenBusy: LocalForward['whenBusy'],
  { cluster, namespace, signal }: Session,
): LocalForward {
  const base = { localPort, remotePort, whenBusy, service: service?.value }
  if (!labels) return base
  const selector = labels.map(({ name, value }) => `${name}=${value}`).join(',')
  const query = { apiVersion: 'v1', kind: 'Service', namespace, labels: selector }
  return {
    ...base,
    label: selector,
    findService: async () => (await cluster.list(query, { signal }))[0]?.metadata.name,
  }
}
