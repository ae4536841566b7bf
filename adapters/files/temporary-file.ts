import { createHash, randomUUID } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Age in milliseconds after which a temporary file that another machine created counts as no longer in use. */
const DAY = 86_400_000

/** Hash of the host name: a pid is unique only within one machine, and each container counts as a machine. */
const MACHINE = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

const NAME = /^(.+)\.([0-9a-f]{8})-(\d+)-[0-9a-f-]{36}\.tmp$/

/**
 * Returns the path of a temporary file in a folder. The caller renames the file to `name` when it is complete. Removes
 * temporary files for this name that killed processes left behind: the path contains the pid of the process.
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
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
