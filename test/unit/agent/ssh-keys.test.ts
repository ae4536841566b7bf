import ssh2 from 'ssh2'
import { afterEach, expect, test, vi } from 'vitest'
import { createSshKeyPair, keyBytes, parsedKey } from '../../../adapters/ssh/keys.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

afterEach(() => vi.restoreAllMocks())

// One in 256 public keys begins with a zero byte, which the library's generator removes (mscdex/ssh2#1390).
test('every created key can be read, and both halves belong together', () => {
  for (let round = 0; round < (TAKES_ALL ? 5000 : 20); round++) {
    const { privateKey, publicKey } = createSshKeyPair('shop')
    expect(publicKey).toMatch(/^ssh-ed25519 \S+ shop\n?$/)
    expect(keyBytes(publicKey)).toEqual(keyBytes(privateKey))
    expect(parsedKey(publicKey).verify('text', parsedKey(privateKey).sign('text'))).toBe(true)
  }
})

test('createSshKeyPair replaces a key that the library cannot read', () => {
  const { generateKeyPairSync } = ssh2.utils
  const unreadable = generateKeyPairSync('ed25519', { comment: 'shop' })
  let readable = generateKeyPairSync('ed25519', { comment: 'shop' })
  while (ssh2.utils.parseKey(readable.private) instanceof Error)
    readable = generateKeyPairSync('ed25519', { comment: 'shop' })
  unreadable.private = withoutByte(unreadable.private)
  expect(ssh2.utils.parseKey(unreadable.private)).toBeInstanceOf(Error)
  const generate = vi.spyOn(ssh2.utils, 'generateKeyPairSync')
  generate.mockReturnValueOnce(unreadable).mockReturnValueOnce(readable)
  const { privateKey } = createSshKeyPair('shop')
  expect(generate).toHaveBeenCalledTimes(2)
  expect(privateKey).not.toBe(unreadable.private)
  expect(parsedKey(privateKey).comment).toBe('shop')
})

/** Returns a private key whose public half lacks its first byte, as if that byte were zero. */
function withoutByte(pem: string): string {
  const [begin, ...lines] = pem.trim().split('\n')
  const bytes = Buffer.from(lines.slice(0, -1).join(''), 'base64')
  // The public key of an Ed25519 key has 32 bytes, after their number and the name of the kind.
  const name = Buffer.concat([Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32])])
  const at = bytes.indexOf(name) + name.length
  const shorter = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
  shorter[at - 1] = 31
  return `${begin}\n${shorter.toString('base64')}\n${lines.at(-1)}\n`
}
