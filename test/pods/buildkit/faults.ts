import type { AddressInfo, Server } from 'node:net'

/** Returns the error that a build fails with, or undefined if it succeeds. */
export const failureOf = (building: Promise<unknown>) =>
  building.then(
    () => undefined,
    (error: unknown) => error,
  )

/** Returns a step that no other build has had. */
export const once = () => `RUN : ${Date.now()}-${Math.random()}`

/** Calls `use` with the port of a server, and closes the server. */
export async function listening(server: Server, use: (port: number) => Promise<void>): Promise<void> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await use((server.address() as AddressInfo).port)
  } finally {
    server.close()
  }
}
