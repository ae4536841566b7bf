import type { Forward } from '../../compiler/manifest/forward.ts'
import type { FoundDevelopment } from '../select/find-development.ts'

/** Development containers without conflicting local ports, with notes on the ports that were changed. */
export interface SharedPorts {
  readonly found: readonly FoundDevelopment[]
  /** Messages about local ports that several development containers want. */
  readonly notes: readonly { readonly dev: string; readonly text: string }[]
}

/**
 * Assigns each local port to the first development container that forwards it. A development container that forwards
 * the same port to another target gets the next port that no development container wants. Forwards to the same Service,
 * and the forwards of the manifest, are opened only once: by the first session and, after it has ended, by another one.
 */
export function sharePorts(all: readonly FoundDevelopment[]): SharedPorts {
  const wanted = new Set(all.flatMap(({ development, forward }) => [...development.forward, ...forward].map(portOf)))
  const owners = new Map<number, Owner>()
  const notes: { dev: string; text: string }[] = []
  const moved = all.map(one => {
    const { name } = one.development
    const spare: Forward[] = []
    const own = one.development.forward.flatMap((forward): readonly Forward[] => {
      const owner = owners.get(forward.localPort)
      if (!owner) {
        owners.set(forward.localPort, { name, forward })
        return [forward]
      }
      if (isSameService(owner.forward, forward)) {
        spare.push(forward)
        return []
      }
      const localPort = nextFree(forward.localPort, wanted)
      wanted.add(localPort)
      const given = { ...forward, localPort }
      owners.set(localPort, { name, forward: given })
      notes.push({
        dev: name,
        text: `localhost:${localPort} leads to ${targetOf(forward)}, since ${owner.name} has port ${forward.localPort}`,
      })
      return [given]
    })
    return { one, own, spare }
  })
  const found = moved.map(({ one, own, spare }, index) => ({
    ...one,
    development: { ...one.development, forward: own },
    forward: [...one.forward.filter(({ localPort }) => !owners.has(localPort)), ...spare],
    isSpare: index > 0,
  }))
  return { found, notes }
}

interface Owner {
  readonly name: string
  readonly forward: Forward
}

/**
 * True if two forwards lead to the same port of the same Service, regardless of the Pod that resolves the Service name.
 */
const isSameService = (a: Forward, b: Forward): boolean =>
  a.service !== undefined && a.service.value === b.service?.value && a.remotePort === b.remotePort

const targetOf = ({ service, remotePort }: Forward): string =>
  service ? `${service.value}:${remotePort}` : String(remotePort)

const portOf = ({ localPort }: { readonly localPort: number }): number => localPort

function nextFree(port: number, wanted: ReadonlySet<number>): number {
  let next = port < 1024 ? 8000 + port : portAfter(port)
  while (wanted.has(next)) next = portAfter(next)
  return next
}

const LAST_PORT = 65_535

/** Returns the port after `port`. After the highest port, returns 1024, the first port that needs no special rights. */
const portAfter = (port: number): number => (port < LAST_PORT ? port + 1 : 1024)
