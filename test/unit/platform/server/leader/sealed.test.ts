import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { readKeys, type SealingKeys, sealingWith } from '../../../../../platform/server/leader/sealed.ts'

const key = (fill: number) => Buffer.alloc(32, fill)
const sealing = (keys: SealingKeys, now = () => 0) => sealingWith({ read: () => keys, now })
const one = new Map([[1, key(1)]])

test('a sealed text opens only for its own place', () => {
  const { seal, open } = sealing(one)
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string(), fc.string(), (text, place, other) => {
      const sealed = seal(text, place)
      expect(open(sealed, place)).toBe(Buffer.from(text).toString())
      if (other !== place) expect(open(sealed, other)).toBeUndefined()
    }),
  )
})

test('a sealed text does not contain the text, and differs each time', () => {
  const { seal } = sealing(one)
  const sealed = seal('canary', 'here')
  expect(sealed).toMatch(/^v1\.k1\.[\w-]+$/)
  expect(Buffer.from(sealed.slice(6), 'base64url').toString('latin1')).not.toContain('canary')
  expect(seal('canary', 'here')).not.toBe(sealed)
})

test('open refuses every changed bit and every shortened text', () => {
  const { seal, open } = sealing(one)
  const sealed = seal('a value', 'here')
  const bytes = Buffer.from(sealed.slice(6), 'base64url')
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes)
    changed[bit >> 3]! ^= 1 << (bit & 7)
    expect(open(`v1.k1.${changed.toString('base64url')}`, 'here')).toBeUndefined()
  }
  for (let length = 0; length < bytes.length; length++)
    expect(open(`v1.k1.${bytes.subarray(0, length).toString('base64url')}`, 'here')).toBeUndefined()
})

test.each(['', 'v1', 'v1.k1.', 'v1.k0.AAAA', 'v2.k1.AAAA', 'v1.k1.AA AA', 'v1.k9999999.AAAA', '\0'])(
  'open refuses %j',
  text => {
    expect(sealing(one).open(text, 'here')).toBeUndefined()
  },
)

test('a text that was sealed with one key does not open with another, even with equal bytes', () => {
  const both = sealing(
    new Map([
      [1, key(1)],
      [2, key(1)],
    ]),
  )
  const sealed = both.seal('text', 'here')
  expect(both.open(sealed, 'here')).toBe('text')
  expect(both.open(sealed.replace('k2', 'k1'), 'here')).toBeUndefined()
  expect(sealing(new Map([[2, key(3)]])).open(sealed, 'here')).toBeUndefined()
})

test('the newest key seals, and all keys open', () => {
  const many = new Map([9, 10, 1].map(number => [number, key(number)]))
  expect(sealing(many).seal('text', '')).toMatch(/^v1\.k10\./)
  expect(sealing(many).open(sealing(one).seal('old', 'here'), 'here')).toBe('old')
})

test('a new key opens soon and seals when all replicas have it; a missing folder loses no key', () => {
  let keys: SealingKeys = one
  let now = 0
  const { seal, open } = sealingWith({
    read: () => {
      if (keys.size === 0) throw new Error('the folder is away')
      return keys
    },
    now: () => now,
  })
  const two = new Map([...one, [2, key(2)]])
  const byOther = sealing(two).seal('theirs', 'here')
  expect(open(byOther, 'here')).toBeUndefined()
  keys = two
  now += 30_000
  expect(open(byOther, 'here')).toBe('theirs')
  expect(seal('text', '')).toMatch(/^v1\.k1\./)
  keys = new Map()
  now += 30_000
  expect(open(byOther, 'here')).toBe('theirs')
  keys = two
  now += 180_000
  expect(seal('text', '')).toMatch(/^v1\.k2\./)
  // The old key is removed.
  keys = new Map([[2, key(2)]])
  now += 30_000
  expect(seal('text', '')).toMatch(/^v1\.k2\./)
})

test('sealing fails without a key', () => {
  expect(() => sealing(new Map())).toThrow('there is no key')
})

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})
const folder = () => {
  const made = mkdtempSync(join(tmpdir(), 'devctl-keys-'))
  folders.push(made)
  return made
}

test('readKeys reads the keys of a mounted Secret', () => {
  const mounted = folder()
  const bytes = randomBytes(32)
  writeFileSync(join(mounted, 'hidden'), `${bytes.toString('base64')}\n`)
  symlinkSync('hidden', join(mounted, 'k3'))
  symlinkSync('.', join(mounted, '..data'))
  expect(readKeys(mounted)).toEqual(new Map([[3, bytes]]))
})

test.each(['', 'short', key(1).toString('hex'), key(1).toString('base64').slice(0, -1), `${'A'.repeat(42)}!=`])(
  'a file with %j is no key',
  text => {
    const mounted = folder()
    writeFileSync(join(mounted, 'k1'), text)
    expect(() => readKeys(mounted)).toThrow('`k1` is not 32 bytes in base64')
  },
)
