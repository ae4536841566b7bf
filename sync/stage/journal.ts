import type { Disk } from './disk.ts'
import { makeFolders, readOwn } from './disk-files.ts'

/**
 * Lines that are written beside a file of ours since it was saved last, so that a kill loses none of them. They are in
 * files with numbers: those up to the one that the saved file names are in it.
 */
export class Journal {
  readonly #disk: Disk
  readonly #prefix: string
  /** The first line of each file: whom it belongs to. */
  readonly #header: string
  /** The number of the last file; 0: there was none. */
  #last: number
  #open: { readonly file: number; position: number } | undefined
  #pending: string[] = []
  #isWaiting = false
  #isClosed = false
  /** A line could not be written: until the file is saved, none is. */
  #isBroken = false
  /** Bytes since the file was saved. */
  size = 0

  constructor(disk: Disk, prefix: string, header: object, last: number) {
    this.#disk = disk
    this.#prefix = prefix
    this.#header = `${JSON.stringify(header)}\n`
    this.#last = last
  }

  /** Written together with what follows at once. */
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
      // A line that is missing makes what the next session knows older, not wrong.
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

  /** What follows goes to another file; gives the number of the last one with what has been. */
  turn(): number {
    this.flush()
    this.#close()
    this.#isBroken = false
    this.size = 0
    return this.#last
  }

  /** What is added from now on is left out. */
  close(): void {
    this.flush()
    this.#close()
    this.#isClosed = true
  }
}

/**
 * The lines of the files after that number, without a last one that is torn. Other files are removed: those of somebody
 * else, and those up to that number. Gives the number of the last file.
 */
export function readJournal(
  disk: Disk,
  prefix: string,
  header: object,
  after: number,
): { readonly lines: readonly unknown[]; readonly last: number } {
  const lines: unknown[] = []
  let last = after
  for (;;) {
    const text = readOwn(disk, `${prefix}${last + 1}`)?.toString()
    if (text === undefined) break
    const [first, ...rest] = text.split('\n').slice(0, -1)
    if (first !== undefined && first !== JSON.stringify(header)) break
    lines.push(...parsed(rest))
    last++
  }
  removeJournal(disk, prefix, number => number <= after || number > last)
  return { lines, last }
}

/** Up to the first one that is damaged. */
function parsed(lines: readonly string[]): readonly unknown[] {
  const values: unknown[] = []
  try {
    for (const line of lines) values.push(JSON.parse(line))
  } catch {
    // What follows is older than what we know, or nothing.
  }
  return values
}

/** Removes the files with these numbers. */
export function removeJournal(disk: Disk, prefix: string, isOld: (number: number) => boolean): void {
  const [folder, start] = [prefix.slice(0, prefix.lastIndexOf('/')), prefix.slice(prefix.lastIndexOf('/') + 1)]
  try {
    for (const name of disk.list(folder)) {
      const number = name.startsWith(start) ? name.slice(start.length) : ''
      if (/^\d{1,9}$/.test(number) && isOld(Number(number))) disk.removeFile(`${folder}/${name}`)
    }
  } catch {
    // It is left out by its number.
  }
}
