import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { arch, cpus, freemem, platform, release, totalmem } from 'node:os'
import { basename, join } from 'node:path'
import { version } from '../../project/version.ts'

/** Bytes of the log of `up` that are taken: the end of it. */
const LOG_BYTES = 5_000_000

/** The end of a file, from the beginning of a line. Throws what node:fs throws. */
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

/** The files of a folder and of those below it, with size and time: the contents are the user's. */
export function listing(folder: string): string {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  const lines = paths.flatMap(path => {
    const stats = statSync(join(folder, path), { throwIfNoEntry: false })
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

/** Returns the inotify limits; an `up` that reaches the limit of watched folders scans the others. */
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

/** The folders of sessions of a development container, in whatever cluster and namespace. */
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
