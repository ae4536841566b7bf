import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'devctl-publish-'
const OWNER = 'owner'
/** Milliseconds after which a folder that says nothing of its process is nobody's any more. */
const OLD = 60_000

/** Does work with a private folder in TMPDIR, which is gone afterwards, whatever happens; also removes those that killed runs have left. */
export async function withTemporary<Result>(
  env: Readonly<Record<string, string | undefined>>,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const base = env.TMPDIR || tmpdir()
  removeLeftovers(base)
  // Node makes it for this user alone (0700).
  const folder = mkdtempSync(join(base, PREFIX))
  try {
    writeFileSync(join(folder, OWNER), `${process.pid} ${startOf(process.pid) ?? ''}\n`)
    const inner = join(folder, 'work')
    mkdirSync(inner)
    return await work(inner)
  } finally {
    // A git process that was just ended may still write its last file.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}

/** Removes the folders whose process is gone. What cannot be looked at or removed is somebody else's. */
function removeLeftovers(base: string): void {
  for (const name of readdirSync(base).filter(name => name.startsWith(PREFIX))) {
    const folder = join(base, name)
    try {
      if (isLeft(folder)) rmSync(folder, { recursive: true, force: true })
    } catch {
      // Of another user, or gone meanwhile.
    }
  }
}

function isLeft(folder: string): boolean {
  const found = statSync(folder)
  if (process.getuid && found.uid !== process.getuid()) return false
  let owner: string
  try {
    owner = readFileSync(join(folder, OWNER), 'utf8')
  } catch {
    return Date.now() - found.mtimeMs > OLD
  }
  const [id, start] = owner.trim().split(' ')
  // An id is used again: it is the same process only if it began when the owner did.
  return !isRunning(Number(id)) || (start !== undefined && startOf(Number(id)) !== start)
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' // node throws nothing else
  }
}

/** When a process began, as Linux tells it; undefined elsewhere. https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function startOf(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8')
    // The name of the program, in brackets, may have blanks.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
