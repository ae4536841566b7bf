import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { arch, cpus, freemem, platform, release, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { statIfFound } from '../../adapters/files/stat-if-found.ts'
import { version } from '../../project/version.ts'

/** Maximum size of the excerpt from the end of the log of `up`, in bytes. */
const LOG_BYTES = 5_000_000

/** Returns the end of a file, starting at the beginning of a line. Throws the errors of node:fs. */
export function tail(path: string, bytes = LOG_BYTES): string {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const start = Math.max(0, size - bytes)
    const buffer = Buffer.alloc(size - start)
    const read = readSync(file, buffer, 0, buffer.length, start)
    const text = buffer.toString('utf8', 0, read)
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1)
  } finally {
    closeSync(file)
  }
}

/** Lists the files of a folder and its subfolders with size and time, but without their contents, which are private. */
export function listing(folder: string): string {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const lines = paths.flatMap(path => {
    const stats = statIfFound(join(folder, path))
    return stats?.isFile() ? [`${stats.mtime.toISOString()} ${String(stats.size).padStart(12)} ${path}`] : []
  })
  return lines.map(line => `${line}\n`).join('')
}

/** Returns facts about this machine: versions, hardware, terminal and inotify limits. */
export function machine(env: Readonly<Record<string, string | undefined>>): object {
  return {
    devctl: version(),
    node: process.version,
    os: platform(),
    release: release(),
    architecture: arch(),
    processors: cpus().length,
    memory: { free: freemem(), total: totalmem() },
    terminal: { TERM: env.TERM, isTTY: process.stdin.isTTY === true },
    ...(platform() === 'linux' && { inotify: inotifyLimits() }),
  }
}

/** Returns the inotify limits. If `up` reaches the limit of watched folders, it scans the remaining folders instead. */
function inotifyLimits(): Readonly<Record<string, number | undefined>> {
  const names = ['max_user_watches', 'max_user_instances', 'max_queued_events']
  return Object.fromEntries(names.map(name => [name, numberIn(`/proc/sys/fs/inotify/${name}`)]))
}

function numberIn(path: string): number | undefined {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

/** Returns the session folders of a development container, for all clusters and namespaces. */
export function sessionsOf(home: string, dev: string | undefined): readonly string[] {
  const top = join(home, 'develop')
  return foldersIn(top)
    .flatMap(server => foldersIn(join(top, server)).map(namespace => join(top, server, namespace)))
    .flatMap(namespace => foldersIn(namespace).map(name => join(namespace, name)))
    .filter(folder => dev === undefined || basename(folder) === dev)
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter(entry => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}
