import { type KeyObject, randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readSealingKey } from '../../../../gitops/encryption/sealing-key.ts'

const newHome = () => join(mkdtempSync(join(tmpdir(), 'devctl-sealing-')), 'home')
const bytesOf = (key: KeyObject) => key.export().toString('hex')
const read = (home: string, DEVCTL_SEALING_KEY?: string) => readSealingKey({ home, env: { DEVCTL_SEALING_KEY } })

describe('the sealing key', () => {
  test('the sealing key is created once, and only its user can read it', async () => {
    const home = newHome()
    const first = await read(home)
    const second = await read(home)
    expect(first.isNew).toBe(true)
    expect(second.isNew).toBe(false)
    expect(bytesOf(first.key)).toMatch(/^[0-9a-f]{64}$/)
    expect(bytesOf(second.key)).toBe(bytesOf(first.key))
    expect(readdirSync(home)).toEqual(['sealing.key'])
    expect(statSync(join(home, 'sealing.key')).mode & 0o777).toBe(0o600)
    expect(statSync(home).mode & 0o777).toBe(0o700)
    expect(bytesOf((await read(newHome())).key)).not.toBe(bytesOf(first.key))
  })

  test('the sealing key is the same for all that create it at once', async () => {
    const home = newHome()
    const keys = await Promise.all(Array.from({ length: 50 }, () => read(home)))
    expect(new Set(keys.map(({ key }) => bytesOf(key))).size).toBe(1)
    expect(keys.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(readdirSync(home)).toEqual(['sealing.key'])
  })

  test('the sealing key is that of the environment variable, if it is set', async () => {
    const home = newHome()
    const bytes = randomBytes(32)
    const hex = bytes.toString('hex')
    for (const text of [hex, hex.toUpperCase(), bytes.toString('base64'), bytes.toString('base64url'), ` ${hex}\n`]) {
      const { key, isNew } = await read(home, text)
      expect([bytesOf(key), isNew]).toEqual([hex, false])
    }
    expect(existsSync(home)).toBe(false)
    expect((await read(home, '')).isNew).toBe(true)
  })

  test.each([
    'a password',
    '0123',
    'g'.repeat(64),
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
  ])('an invalid key in the environment variable is refused, and not shown: %s', async text => {
    const error = await read(newHome(), text).catch(error => error)
    expect(error.message).toContain('DEVCTL_SEALING_KEY is not a valid key')
    expect(`${inspect(error)} ${error.hint}`).not.toContain(text)
  })

  test('the permissions of an open key file are restricted', async () => {
    const home = newHome()
    await read(home)
    chmodSync(join(home, 'sealing.key'), 0o644)
    await read(home)
    expect(statSync(join(home, 'sealing.key')).mode & 0o777).toBe(0o600)
  })

  test('a damaged key file is refused, and is not changed', async () => {
    const home = newHome()
    mkdirSync(home)
    writeFileSync(join(home, 'sealing.key'), 'half a k')
    await expect(read(home)).rejects.toThrow('does not contain a sealing key')
    expect(readFileSync(join(home, 'sealing.key'), 'utf8')).toBe('half a k')
  })

  test('a sealing key that cannot be created is reported', async () => {
    const home = newHome()
    writeFileSync(home, 'a file where the folder should be')
    const error = await read(home).catch(error => error)
    expect(error.message).toMatch(/cannot be read or created/)
    expect(error.hint).toContain('set DEVCTL_SEALING_KEY')
  })

  test('the sealing key does not appear in printed objects', async () => {
    const key = await read(newHome())
    const bytes = key.key.export()
    for (const text of [inspect(key, { depth: 9 }), JSON.stringify(key), String(key.key)])
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        expect(text).not.toContain(bytes.toString(encoding))
  })
})
