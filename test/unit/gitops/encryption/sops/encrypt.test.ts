import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../../../constructs/manifest.ts'
import { printDocument } from '../../../../../constructs/yaml.ts'
import { encryptSecret } from '../../../../../gitops/encryption/sops/encrypt.ts'
import { SECRET_VALUES } from '../../../../../gitops/encryption/sops/rule.ts'
import { decrypt, IDENTITY, OTHER_RECIPIENT, RECIPIENT } from '../../../../support/gitops/sops/decrypt.ts'

const SECRET: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'shop-db', namespace: 'shop', labels: { 'example.com/n': '1', on: 'true' } },
  type: 'Opaque',
  immutable: true,
  data: { password: Buffer.from('hunter2 ünd\n').toString('base64'), empty: '', 'file.bin': 'AAECAwT/' },
}

const NOW = new Date('2026-05-04T03:02:01.999Z')
const RULE = { age: [RECIPIENT], encryptedRegex: SECRET_VALUES }

const printed = (object: KubernetesObject) => printDocument({ source: 'compose.yaml#secrets.db', folder: 'db', object })

describe('encryptSecret', () => {
  test('the decryption of the tests reads what the program sops has written', async () => {
    const text = readFileSync(join(import.meta.dirname, 'written-by-sops.yaml'), 'utf8')
    expect(await decrypt(load(text) as KubernetesObject)).toMatchObject({
      data: { password: 'aHVudGVyMg==', empty: '' },
    })
  })

  test('an encrypted Secret decrypts to the original, also from its file', async () => {
    const encrypted = await encryptSecret(SECRET, RULE, NOW)
    expect(await decrypt(encrypted)).toEqual(SECRET)
    expect(await decrypt(load(printed(encrypted)) as KubernetesObject)).toEqual(SECRET)
  })

  test('an encrypted Secret shows all but its values', async () => {
    const { data, sops, ...rest } = await encryptSecret(SECRET, RULE, NOW)
    const { data: _, ...plain } = SECRET
    expect(rest).toEqual(plain)
    expect(data).toEqual({
      password: expect.stringMatching(/^ENC\[/),
      empty: '',
      'file.bin': expect.stringMatching(/^ENC\[/),
    })
    expect(sops).toMatchObject({ encrypted_regex: SECRET_VALUES, lastmodified: '2026-05-04T03:02:01Z' })
  })

  test('an encrypted value cannot be moved, and no other field can be changed', async () => {
    const encrypted = await encryptSecret(SECRET, RULE, NOW)
    const { password, ...data } = encrypted['data'] as Record<string, string>
    await expect(decrypt({ ...encrypted, data: { ...data, other: password } })).rejects.toThrow()
    await expect(decrypt({ ...encrypted, type: 'Other' })).rejects.toThrow('the digest differs')
  })

  test('an encrypted Secret opens for each of its recipients, and for no other key', async () => {
    const both = await encryptSecret(SECRET, { ...RULE, age: [OTHER_RECIPIENT, RECIPIENT] }, NOW)
    expect(await decrypt(both)).toEqual(SECRET)
    const others = await encryptSecret(SECRET, { ...RULE, age: [OTHER_RECIPIENT] }, NOW)
    await expect(decrypt(others)).rejects.toThrow('not for this key')
  })

  test('encryptSecret never returns the same values twice', async () => {
    const [one, other] = [await encryptSecret(SECRET, RULE, NOW), await encryptSecret(SECRET, RULE, NOW)]
    expect(one['data']).not.toEqual(other['data'])
  })

  test.each([
    ['^stringData$', 'leaves `data.password` of the Secret in plain text'],
    ['data', 'encrypts `metadata.name`, which Kubernetes must be able to read'],
    ['(', 'cannot be read'],
  ])('the rule %s is refused', async (encryptedRegex, why) => {
    await expect(encryptSecret(SECRET, { ...RULE, encryptedRegex }, NOW)).rejects.toThrow(why)
  })

  test.each(['age1abc', 'ssh-ed25519 AAAA', 'age1yubikey1qwerty'])('%s is no recipient', async recipient => {
    await expect(encryptSecret(SECRET, { ...RULE, age: [recipient] }, NOW)).rejects.toThrow('is not a recipient of age')
  })

  test('a private key among the recipients is not shown', async () => {
    const error: Error = await encryptSecret(SECRET, { ...RULE, age: [IDENTITY] }, NOW).then(
      () => new Error('encrypted'),
      reason => reason,
    )
    expect(error.message).toBe('an entry of the list for age is not a recipient of age')
  })
})
