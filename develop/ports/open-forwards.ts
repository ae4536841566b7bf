import type { AgentLink } from './agent-link.ts'
import type { ForwardEvent } from './events.ts'
import { type LocalForward, type OpenForward, openLocalForward } from './local-forward.ts'
import { openReverse, type ReverseForward } from './reverse-forward.ts'

export interface ForwardsInput {
  readonly forwards: readonly LocalForward[]
  readonly reverse: readonly ReverseForward[]
  /** Local address to listen on; `localhost` means both loopback addresses. */
  readonly address: string
  readonly link: AgentLink
}

/** All forwards of a session. */
export interface OpenForwards {
  /** Forwards in display order: forwards to the container, then forwards to Services, each sorted by local port. */
  readonly forwards: readonly { readonly local: string; readonly remote: string }[]
  readonly reverse: readonly { readonly remote: string; readonly local: string }[]
  close(): void
}

/**
 * Opens the forwards of a session. They stay open while the container is not connected, and clients wait. If a local
 * port is unavailable, closes all of them and rejects with a UserError.
 */
export async function openForwards(
  { forwards, reverse, address, link }: ForwardsInput,
  on: (event: ForwardEvent) => void,
): Promise<OpenForwards> {
  const open: OpenForward[] = []
  const own = address === 'localhost' ? undefined : address
  try {
    for (const forward of [...forwards].sort(inOrder)) open.push(await openLocalForward(forward, own, link, on))
  } catch (error) {
    for (const one of open) one.close()
    throw error
  }
  // Programs that listen on all addresses of this machine are reached through the loopback address.
  const here = ['0.0.0.0', '::'].includes(address) ? 'localhost' : address
  const undo = reverse.map(one => openReverse(one, here, link, on))
  return {
    forwards: open.map(({ local, remote }) => ({ local, remote })),
    reverse: reverse.map(({ remotePort, localPort }) => ({
      remote: String(remotePort),
      local: `${here}:${localPort}`,
    })),
    close() {
      for (const one of open) one.close()
      for (const one of undo) one()
    },
  }
}

const isContainers = ({ service, findService }: LocalForward): boolean => !service && !findService

function inOrder(a: LocalForward, b: LocalForward): number {
  return Number(isContainers(b)) - Number(isContainers(a)) || a.localPort - b.localPort
}
