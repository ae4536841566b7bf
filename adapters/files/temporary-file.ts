import { createHash, randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Milliseconds after which nothing still writes to a file of another machine. */
const DAY = 86_400_000

/** Pids mean something on one machine only, and each container is one. */
const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

const NAME = /^(.+)\.([0-9a-f]{8})-(\d+)-[0-9a-f-]{36}\.tmp$/

/**
 * A path in a folder for a file that gets its name, `name`, when it is complete. Files with this name
 * that were left by processes that were killed are removed: their paths have the pid.
 */
export async function temporaryPath(folder: string, name: string): Promise<string> {
  for (const other of await readdir(folder))
    if (await isLeft(folder, other, name)) await rm(join(folder, other), { force: true })
  return join(folder, `${name}.${MACHINE}-${process.pid}-${randomUUID()}.tmp`)
}

async function isLeft(folder: string, file: string, name: string): Promise<boolean> {
  const [, its, machine, pid] = NAME.exec(file) ?? []
  if (its !== name) return false
  if (machine === MACHINE) return !runs(Number(pid))
  const stats = await stat(join(folder, file)).catch(() => undefined)
  return stats !== undefined && Date.now() - stats.mtimeMs > DAY
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // A process of another user may not be sent anything.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
