import type { Attributes, FileEntry } from 'ssh2'

/** Format for `stat`: mode in hexadecimal, size, owner, group and times. */
export const STAT_FORMAT = '%f %s %u %g %X %Y'

const LINE = /^([\da-f]+) (\d+) (\d+) (\d+) (-?\d+) (-?\d+)/

/** Parses a line of `stat`; returns undefined for any other line. */
export function parseAttributes(line: string): Attributes | undefined {
  const [, mode, ...numbers] = LINE.exec(line) ?? []
  if (mode === undefined) return undefined
  const [size, uid, gid, atime, mtime] = numbers.map(Number) as [number, number, number, number, number]
  // Times in the protocol are unsigned 32-bit numbers.
  return { mode: Number.parseInt(mode, 16), size, uid, gid, atime: Math.max(0, atime), mtime: Math.max(0, mtime) }
}

/** Parses the entries of a folder: lines of `stat`, each preceded by a mark and followed by its path. */
export function parseEntries(text: string, mark: string): readonly FileEntry[] {
  return text.split(`${mark} `).flatMap(line => {
    const attrs = parseAttributes(line)
    if (!attrs) return []
    const path = line.replace(LINE, '').slice(1).replace(/\n$/, '')
    const filename = path.slice(path.lastIndexOf('/') + 1)
    return [{ filename, longname: longName(filename, attrs), attrs }]
  })
}

const KINDS: Readonly<Record<number, string>> = { 4: 'd', 9: 'l', 2: 'c', 6: 'b', 1: 'p', 11: 's' }

/** Returns the line in the format of `ls -l` that clients show. */
function longName(name: string, { mode, size, uid, gid, mtime }: Attributes): string {
  const bits = [...'rwxrwxrwx'].map((letter, index) => (mode & (1 << (8 - index)) ? letter : '-')).join('')
  const time = new Date(mtime * 1000).toISOString().slice(0, 16).replace('T', ' ')
  return `${KINDS[(mode >> 12) & 0o17] ?? '-'}${bits} 1 ${uid} ${gid} ${String(size).padStart(8)} ${time} ${name}`
}
