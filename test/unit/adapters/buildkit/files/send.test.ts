import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { folderAt } from '../../../../../adapters/buildkit/files/folder.ts'
import { type PacketStream, sendFiles } from '../../../../../adapters/buildkit/files/send.ts'
import { messagesIn } from '../../../../../adapters/buildkit/session/frames.ts'
import { decodeMessage } from '../../../../../adapters/buildkit/wire.ts'

const [STAT, REQUEST, DATA, FINISH] = [0, 1, 2, 3]

const root = mkdtempSync(join(tmpdir(), 'devctl-test-send-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Sizes around that of a piece, for more files than are announced at once and more than there are buffers. */
const SIZES = [0, 1, 131_071, 131_072, 131_073, 262_144, 1_000_000, ...Array.from({ length: 600 }, (_, at) => at)]
const names = SIZES.map((_, index) => `file-${String(index).padStart(4, '0')}`)

beforeAll(() => {
  for (const [index, size] of SIZES.entries()) writeFileSync(join(root, names[index]!), Buffer.alloc(size, `${index} `))
})

/** A builder that requests all files and takes them at its own pace. Gives the content of each file, by its number. */
function builder(take: () => Promise<void>) {
  const contents = new Map<number, Buffer[]>()
  const ended = new Set<number>()
  const requests = new Readable({ objectMode: true, read: () => {} })
  const stream: PacketStream = {
    send: async (...packets) => {
      if (packets[0]!.type !== STAT) return
      for (let file = 0; file < names.length; file++) requests.push({ type: REQUEST, ID: file })
    },
    sendFrames: async frames => {
      // The connection uses the buffer until it is written.
      await take()
      for await (const bytes of messagesIn(Readable.from([frames]), message => message)) {
        const { type, ID = 0, data } = decodeMessage('fsutil.types.Packet', bytes) as Record<string, never>
        if (type !== DATA) continue
        if (data) contents.set(ID, [...(contents.get(ID) ?? []), Buffer.from(data)])
        else ended.add(ID)
      }
      if (ended.size === names.length) requests.push({ type: FINISH })
    },
    requests,
  }
  return { stream, contents, requests }
}

/** Number of files that this process has open. */
const openFiles = () => readdirSync('/proc/self/fd').length

test('sendFiles sends files of all sizes completely over a slow connection', async () => {
  let turn = Promise.resolve()
  const { stream, contents } = builder(() => {
    turn = turn.then(() => new Promise(setImmediate))
    return turn
  })
  await sendFiles(folderAt(root), {}, stream)
  for (const [number, name] of names.entries())
    expect(Buffer.concat(contents.get(number) ?? []).equals(readFileSync(join(root, name)))).toBe(true)
})

test.runIf(process.platform === 'linux')('a call that ends in the middle leaves no file open', async () => {
  const before = openFiles()
  let left = 8
  const { stream, requests } = builder(async () => {
    if (left-- > 0) return
    requests.push(null)
    throw new Error('the builder has ended the call')
  })
  await expect(sendFiles(folderAt(root), {}, stream)).rejects.toThrow('ended the call')
  await expect.poll(openFiles).toBe(before)
})
