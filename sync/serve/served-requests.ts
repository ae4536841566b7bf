import type { SyncClock } from '../core/clock.ts'
import { deflate, inflate } from '../core/compress.ts'
import { decodeEntry, encodeEntry, type FileEntry, isUntouched } from '../core/entry.ts'
import * as fields from '../core/fields.ts'
import { hashAtRest } from '../core/hash.ts'
import { outsideProblem } from '../core/paths.ts'
import type { FrameStream } from '../protocol/frame-stream.ts'
import { FRAME_LIMITS, type Frame } from '../protocol/frames.ts'
import { literal, sendLiteral } from '../protocol/literal.ts'
import { decodeBit, decodeWrites, encodeBit, encodeResult } from '../protocol/requests.ts'
import { Receiver, sendParts, sumsOf } from '../protocol/transfer.ts'
import { readSmall } from '../scan/reader.ts'
import { isWriteFinished, SHORT_LOOK } from '../scan/write-finished.ts'
import { type Disk, isMissing } from '../stage/disk.ts'
import { describeError } from '../stage/problems.ts'
import type { SyncVolume } from '../stage/volume.ts'
import { SMALL_FILE } from '../stage/writer.ts'
import type { ServedFolder } from './served-folder.ts'

/** Objects that the requests work with. */
export interface RequestContext {
  readonly disk: Disk
  readonly clock: SyncClock
  readonly volume: SyncVolume
  readonly folders: readonly ServedFolder[]
  openGate(): void
  /** Sends changes that were detected while a request was handled. */
  tell(): void
}

interface Incoming {
  readonly folder: ServedFolder
  readonly path: string
  readonly expect: FileEntry | undefined
  readonly receiver: Receiver | undefined
  failure: unknown
}

/** Handles the requests of the laptop over one connection. Each answer has the number of its request. */
export class ServedRequests {
  readonly #things: RequestContext
  readonly #connection: FrameStream
  readonly #incoming = new Map<number, Incoming>()
  readonly #cancelled = new Set<number>()

  constructor(things: RequestContext, connection: FrameStream) {
    this.#things = things
    this.#connection = connection
  }

  /** Deletes incomplete files, after the connection has ended. */
  close(): void {
    for (const { receiver } of this.#incoming.values()) receiver?.abort()
    this.#incoming.clear()
  }

  receive(frame: Frame): void {
    const id = fields.count(frame.header, 'id')
    switch (frame.type) {
      case 'apply':
        this.#apply(id, frame)
        return
      case 'begin':
        this.#begin(id, frame.header)
        return
      case 'part':
        this.#part(id, frame)
        return
      case 'finish':
        this.#finish(id, frame.header)
        return
      case 'cancel':
        this.#cancel(id)
        return
      case 'gate':
        this.#things.volume.markSynced()
        this.#things.openGate()
        this.#answer(id, {})
        return
      case 'settle':
        void this.#settle(id).catch(error => this.#connection.fail(error as Error))
        return
      default:
        void this.#reply(id, frame).catch(error => this.#connection.fail(error as Error))
    }
  }

  /** Answers the requests that take some time. */
  async #reply(id: number, { type, header, body }: Frame): Promise<void> {
    const folder = this.#folder(header)
    switch (type) {
      case 'stat':
        return this.#stat(id, folder, header)
      case 'read':
        return this.#read(id, folder, header)
      case 'hash':
        return this.#hash(id, folder, header)
      case 'sums':
        return this.#sums(id, folder, header)
      case 'fetch':
        return this.#fetch(id, folder, header, body)
      case 'copy':
        return this.#copy(id, folder, header)
      default:
        throw new Error(`a message of the kind \`${type}\` was not expected`)
    }
  }

  /** Reports all changes so far, and answers. */
  async #settle(id: number): Promise<void> {
    await Promise.all(this.#things.folders.map(({ live }) => live.caughtUp()))
    this.#things.tell()
    this.#answer(id, {})
  }

  #folder(header: Frame['header']): ServedFolder {
    const name = fields.text(header, 'folder')
    const folder = this.#things.folders.find(one => one.name === name)
    if (!folder) throw new Error(`there is no folder \`${name}\``)
    return folder
  }

  #answer(id: number, header: object, body: readonly Uint8Array[] = []): void {
    this.#connection.send('answer', { id, ...header }, body)
    this.#things.tell()
  }

  #apply(id: number, { header, body }: Frame): void {
    const raw = header['raw'] === undefined ? body : inflate(body, fields.count(header, 'raw'), FRAME_LIMITS.frame)
    const results = this.#folder(header).apply(decodeWrites(fields.list(header, 'items'), raw))
    this.#answer(id, { results: results.map(encodeResult) })
  }

  #stat(id: number, folder: ServedFolder, header: Frame['header']): void {
    const paths = fields.list(header, 'paths').map(pathIn)
    for (const path of paths) folder.live.refresh(path)
    this.#answer(id, { entries: paths.map(path => encodeEntry(folder.tree.find(path)?.local)) })
  }

  #read(id: number, folder: ServedFolder, header: Frame['header']): void {
    const pieces: Uint8Array[] = []
    const results = fields.list(header, 'items').map(item => {
      const [path, expect] = item as readonly [unknown, unknown]
      const read = this.#readOne(folder, pathIn(path), decodeEntry(expect))
      if (read.bytes) pieces.push(read.bytes)
      return read.result
    })
    const body = Buffer.concat(pieces)
    const small = header['deflate'] === true ? deflate(body) : undefined
    if (small) this.#answer(id, { results, raw: body.length }, [small])
    else this.#answer(id, { results }, [body])
  }

  #readOne(folder: ServedFolder, path: string, expect: FileEntry | undefined) {
    try {
      const read = this.#isSeen(folder, path)
        ? readSmall(this.#things.disk, folder.writer.place(path), SMALL_FILE)
        : undefined
      if (read?.kind === 'read' && isUntouched(expect, read.entry))
        return { result: { k: 'read', size: read.bytes.length }, bytes: read.bytes }
    } catch (error) {
      if (!isMissing(error)) return { result: { k: 'problem', m: describeError(error) } }
    }
    folder.live.refresh(path)
    folder.dirty.delete(path)
    return { result: { k: 'changed', e: encodeEntry(folder.tree.find(path)?.local) } }
  }

  /**
   * Returns true if the path is a file of the tree. Only such files are read, so that neither ignored files nor files
   * behind a link can be requested.
   */
  #isSeen(folder: ServedFolder, path: string): boolean {
    return folder.tree.find(path)?.local?.kind === 'file'
  }

  async #hash(id: number, folder: ServedFolder, header: Frame['header']): Promise<void> {
    const results: object[] = []
    for (const path of fields.list(header, 'paths').map(pathIn)) results.push(await this.#hashOne(folder, path))
    this.#answer(id, { results })
  }

  async #hashOne(folder: ServedFolder, path: string): Promise<object> {
    const { disk, clock } = this.#things
    folder.live.refresh(path)
    folder.dirty.delete(path)
    const entry = folder.tree.find(path)?.local
    if (entry?.kind !== 'file') return { e: encodeEntry(entry) }
    try {
      const read = await hashAtRest(disk, clock, folder.writer.place(path))
      if (read && isUntouched(entry, read)) return { e: encodeEntry(entry), h: read.hash }
    } catch (error) {
      if (!isMissing(error)) return { e: encodeEntry(entry), m: describeError(error) }
    }
    folder.live.refresh(path)
    folder.dirty.delete(path)
    return { e: encodeEntry(folder.tree.find(path)?.local) }
  }

  async #sums(id: number, folder: ServedFolder, header: Frame['header']): Promise<void> {
    const path = pathIn(header['path'])
    const { disk, clock } = this.#things
    try {
      const sums = this.#isSeen(folder, path) ? await sumsOf(disk, clock, folder.writer.place(path)) : undefined
      this.#answer(id, {}, sums ? [sums] : [])
    } catch {
      // The full file is sent without block checksums.
      this.#answer(id, {})
    }
  }

  #begin(id: number, header: Frame['header']): void {
    const folder = this.#folder(header)
    const path = pathIn(header['path'])
    const { executable } = decodeBit(header['executable'])
    const expect = decodeEntry(header['expect'])
    const incoming = { folder, path, expect }
    try {
      const place = folder.writer.place(path)
      const old = header['delta'] === true && this.#isSeen(folder, path) ? place : undefined
      const isExecutable = executable ?? expect?.executable ?? false
      const receiver = new Receiver(this.#things.disk, folder.writer.stageFor(place), old, isExecutable)
      this.#incoming.set(id, { ...incoming, receiver, failure: undefined })
    } catch (error) {
      this.#incoming.set(id, { ...incoming, receiver: undefined, failure: error })
    }
  }

  #part(id: number, { header, body }: Frame): void {
    const incoming = this.#incoming.get(id)
    if (!incoming) throw new Error('a part belongs to no file')
    // Remaining data of a failed file is still arriving; it is read and discarded.
    if (incoming.failure !== undefined) return
    try {
      if (header['from'] === undefined) incoming.receiver!.add({ kind: 'bytes', bytes: literal(header, body) })
      else
        incoming.receiver!.add({
          kind: 'copy',
          from: fields.count(header, 'from'),
          length: fields.count(header, 'length'),
        })
    } catch (error) {
      incoming.failure = error
      incoming.receiver?.abort()
    }
  }

  #finish(id: number, header: Frame['header']): void {
    const incoming = this.#incoming.get(id)
    if (!incoming) throw new Error('a part belongs to no file')
    this.#incoming.delete(id)
    const { folder, path, expect, receiver } = incoming
    try {
      if (incoming.failure !== undefined) throw incoming.failure
      if (!receiver!.finish(fields.count(header, 'size'), fields.text(header, 'hash')))
        throw new Error('the file has arrived damaged')
    } catch (error) {
      receiver?.abort()
      const message = describeError(error)
      this.#answer(id, {
        results: [encodeResult({ kind: 'problem', entry: folder.tree.find(path)?.local, message })],
      })
      return
    }
    this.#place(id, folder, { path, expect }, receiver!, header)
  }

  /** Moves a complete file from the stage to its path. */
  #place(
    id: number,
    folder: ServedFolder,
    at: { readonly path: string; readonly expect: FileEntry | undefined },
    receiver: Receiver,
    header: Frame['header'],
  ): void {
    folder.writer.begin()
    const { stage } = receiver
    const meta = { mtime: fields.number(header, 'mtime'), ...decodeBit(header['executable']) }
    const result = folder.applyOne({ ...at, change: { kind: 'staged', stage, ...meta } })
    if (result.kind !== 'done') receiver.abort()
    this.#answer(id, { results: [encodeResult(result)] })
  }

  /**
   * Copies a large file from another file in the container. If the other file does not have the expected contents, the
   * laptop has to send them.
   */
  async #copy(id: number, folder: ServedFolder, header: Frame['header']): Promise<void> {
    const [path, from] = [pathIn(header['path']), pathIn(header['from'])]
    const size = fields.count(header, 'size')
    const expect = decodeEntry(header['expect'])
    const moved = decodeEntry(header['moved'] ?? null)
    if (moved) {
      const meta = { mtime: fields.number(header, 'mtime'), ...decodeBit(header['executable']) }
      folder.writer.begin()
      this.#answer(id, { results: [encodeResult(folder.move({ path, expect }, { from, moved, ...meta }))] })
      return
    }
    const { disk, clock } = this.#things
    let receiver: Receiver | undefined
    try {
      const source = this.#isSeen(folder, from) ? folder.tree.find(from)?.local : undefined
      const executable = decodeBit(header['executable']).executable ?? source?.executable ?? false
      const stage = folder.writer.stageFor(folder.writer.place(path))
      if (source?.size === size) receiver = new Receiver(disk, stage, folder.writer.place(from), executable)
      const isWhole = await receiver?.addAll(size, clock, () => !this.#connection.isEnded)
      if (receiver && isWhole && receiver.finish(size, fields.text(header, 'hash')))
        return this.#place(id, folder, { path, expect }, receiver, header)
    } catch {
      // The file was deleted, or the disk is full. In the latter case, the error recurs when the contents arrive.
    }
    receiver?.abort()
    this.#answer(id, { results: [encodeResult({ kind: 'changed', entry: folder.tree.find(path)?.local })] })
  }

  #cancel(id: number): void {
    this.#incoming.get(id)?.receiver?.abort()
    if (!this.#incoming.delete(id)) this.#cancelled.add(id)
  }

  async #fetch(id: number, folder: ServedFolder, header: Frame['header'], sums: Buffer): Promise<void> {
    const path = pathIn(header['path'])
    const expect = decodeEntry(header['expect'])
    const mayDeflate = header['deflate'] === true
    const { disk, clock } = this.#things
    try {
      folder.live.refresh(path)
      folder.dirty.delete(path)
      const entry = folder.tree.find(path)?.local
      if (entry?.kind !== 'file' || !isUntouched(expect, entry)) return this.#fetched(id, folder, path)
      const place = folder.writer.place(path)
      if (!(await isWriteFinished(disk, clock, place, SHORT_LOOK))) return this.#fetched(id, folder, path)
      const result = await sendParts({
        disk,
        clock,
        place,
        sums,
        onlyAtRest: true,
        send: (part, taken) => {
          if (part.kind === 'copy') this.#connection.send('part', { id, from: part.from, length: part.length })
          else sendLiteral(this.#connection, id, part.bytes, mayDeflate && this.#connection.isSlow, taken)
        },
        ready: async () => {
          await this.#connection.drained()
          return !this.#connection.isEnded && !this.#cancelled.has(id)
        },
      })
      if (result.kind !== 'sent' || !result.isStill || !isUntouched(expect, result.entry))
        return this.#fetched(id, folder, path)
      const { size, mtime, executable } = result.entry
      this.#answer(id, { k: 'sent', size, mtime, executable: encodeBit(executable), hash: result.hash })
    } catch (error) {
      this.#answer(id, { k: 'problem', m: describeError(error) })
    } finally {
      this.#cancelled.delete(id)
    }
  }

  #fetched(id: number, folder: ServedFolder, path: string): void {
    folder.live.refresh(path)
    folder.dirty.delete(path)
    this.#answer(id, { k: 'changed', e: encodeEntry(folder.tree.find(path)?.local) })
  }
}

/** Reads the path of a request. Throws an Error if it is not a path inside the folder. */
function pathIn(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a path is not a text')
  const problem = outsideProblem(value)
  if (problem) throw new Error(problem)
  return value
}
