import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Range from which systems take no ports for outgoing connections of programs on this machine: Linux gives those an
 * even number, and a port from `listen(0)` an odd one, so that the next port is in use now and then. NodePorts are in
 * another range, too.
 */
const [FIRST, LAST] = [10_000, 29_999]

/** Returns a port that is free on the loopback addresses; with a count, the first of that many free ports in a row. */
export async function freePort(count = 1): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST - count))
    if (await areFree(Array.from({ length: count }, (_, index) => port + index))) return port
  }
  throw new Error(`no ${count} free ports in a row`)
}

async function areFree(ports: readonly number[]): Promise<boolean> {
  const servers: Server[] = []
  try {
    for (const port of ports)
      for (const host of ['127.0.0.1', '::1']) {
        const server = createServer().listen(port, host)
        await once(server, 'listening').catch(error => {
          // This machine may have no IPv6.
          if (error.code !== 'EADDRNOTAVAIL') throw error
        })
        servers.push(server)
      }
    return true
  } catch {
    return false
  } finally {
    await Promise.all(servers.map(one => new Promise(done => one.close(done))))
  }
}
