import type { Disk } from './disk.ts'
import { makeFolders, readOwn } from './disk-files.ts'

/**
 * Log of the changes since a file of devctl was last saved, so that no change is lost if this process is killed. The
 * lines are in numbered files next to the saved file. The saved file contains the number of the last journal file whose
 * changes it includes.
 */
export class Journal {
  readonly #disk: Disk
  readonly #prefix: string
  /** First line of each journal file, which identifies its owner. */
  readonly #header: string
  /** Number of the last journal file; 0 if none exists. */
  #last: number
  #open: { readonly file: number; position: number } | undefined
  #pending: string[] = []
  #isWaiting = false
  #isClosed = false
  /** True if a line could not be written. No further lines are written until the file is saved. */
  #isBroken = false
  /** Number of bytes that were appended since the saved file was last written. */
  size = 0

  constructor(disk: Disk, prefix: string, header: object, last: number) {
    this.#disk = disk
    this.#prefix = prefix
    this.#header = `${JSON.stringify(header)}\n`
    this.#last = last
  }

  /** Adds a line. Lines that are added in the same turn of the event loop are written together. */
  add(line: unknown): void {
    if (this.#isClosed || this.#isBroken) return
    this.#pending.push(`${JSON.stringify(line)}\n`)
    if (this.#isWaiting) return
    this.#isWaiting = true
    queueMicrotask(() => {
      this.#isWaiting = false
      this.flush()
    })
  }

  flush(): void {
    if (this.#pending.length === 0) return
    const text = this.#pending.join('')
    this.#pending = []
    try {
      const open = this.#open ?? this.#next()
      const bytes = Buffer.from(open.position === 0 ? this.#header + text : text)
      this.#disk.write(open.file, bytes, open.position)
      open.position += bytes.length
      this.size += bytes.length
    } catch {
      // After a missing line, the next session finds an older but consistent state.
      this.#isBroken = true
    }
  }

  #next(): { readonly file: number; position: number } {
    const place = `${this.#prefix}${this.#last + 1}`
    makeFolders(this.#disk, place.slice(0, place.lastIndexOf('/')))
    this.#open = { file: this.#disk.open(place, 'create'), position: 0 }
    this.#last++
    return this.#open
  }

  #close(): void {
    if (this.#open) this.#disk.close(this.#open.file)
    this.#open = undefined
  }

  /** Switches to a new file for the following lines. Returns the number of the last file with earlier lines. */
  turn(): number {
    this.flush()
    this.#close()
    this.#isBroken = false
    this.size = 0
    return this.#last
  }

  /** Closes the journal: lines that are added from now on are discarded. */
  close(): void {
    this.flush()
    this.#close()
    this.#isClosed = true
  }
}

/**
 * Reads the lines of the journal files with a number above `after`, except an incomplete last line. Deletes the other
 * journal files: those up to `after`, and those of another owner. Also returns the number of the last file, and the
 * size of the files that were read, in bytes.
 */
export function readJournal(
  disk: Disk,
  prefix: string,
  header: object,
  after: number,
): { readonly lines: readonly unknown[]; readonly last: number; readonly size: number } {
  const lines: unknown[] = []
  let last = after
  let size = 0
  for (;;) {
    const bytes = readOwn(disk, `${prefix}${last + 1}`)
    if (bytes === undefined) break
    const [first, ...rest] = bytes.toString().split('\n').slice(0, -1)
    if (first !== undefined && first !== JSON.stringify(header)) break
    lines.push(...parsed(rest))
    size += bytes.length
    last++
  }
  removeJournal(disk, prefix, number => number <= after || number > last)
  return { lines, last, size }
}

/** Parses the lines up to the first damaged line. */
function parsed(lines: readonly string[]): readonly unknown[] {
  const values: unknown[] = []
  try {
    for (const line of lines) values.push(JSON.parse(line))
  } catch {
    // The following lines are discarded, which results in an older but consistent state.
  }
  return values
}

/** Deletes the journal files for whose numbers `isOld` returns true. */
export function removeJournal(disk: Disk, prefix: string, isOld: (number: number) => boolean): void {
  const [folder, start] = [prefix.slice(0, prefix.lastIndexOf('/')), prefix.slice(prefix.lastIndexOf('/') + 1)]
  try {
    for (const name of disk.list(folder)) {
      const number = name.startsWith(start) ? name.slice(start.length) : ''
      if (/^\d{1,9}$/.test(number) && isOld(Number(number))) disk.removeFile(`${folder}/${name}`)
    }
  } catch {
    // A file that cannot be deleted is ignored later because of its number.
  }
}
