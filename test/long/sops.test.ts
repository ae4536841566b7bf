import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import type { KubernetesObject } from '../../constructs/manifest.ts'
import { printDocument } from '../../constructs/yaml.ts'
import { encryptSecret } from '../../gitops/encryption/sops/encrypt.ts'
import { encryptByProgram } from '../../gitops/encryption/sops/program.ts'
import { SECRET_VALUES } from '../../gitops/encryption/sops/rule.ts'
import { makeFolder } from '../support/cli/folder.ts'
import { decrypt, IDENTITY, OTHER_RECIPIENT, RECIPIENT } from '../support/gitops/sops/decrypt.ts'
import { installSops } from '../support/gitops/sops/program.ts'

// Builds the program `sops`, which takes some minutes because of its clients for all clouds.

const SECRET: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'shop-db', namespace: 'shop', labels: { 'example.com/n': '1', on: 'true' } },
  type: 'Opaque',
  immutable: true,
  data: { password: Buffer.from('hunter2 ünd\n').toString('base64'), empty: '', 'file.bin': 'AAECAwT/' },
}

/** Returns a rule with other groups of keys than one of age, which only the program can use. */
const rule = (encrypted_regex: string) => ({
  fields: ['key_groups'],
  rule: { key_groups: [{ age: [OTHER_RECIPIENT, RECIPIENT] }], encrypted_regex },
})

const signal = AbortSignal.timeout(1_200_000)
const env = { ...process.env, PATH: `${installSops()}${delimiter}${process.env.PATH}` }

test('sops encrypts a Secret from standard input', async () => {
  const encrypted = await encryptByProgram(SECRET, rule(SECRET_VALUES), { env, signal })
  expect(await decrypt(encrypted)).toEqual(SECRET)
})

test.each(['^stringData$', 'data'])('a rule that makes sops encrypt %s is refused', async regex => {
  await expect(encryptByProgram(SECRET, rule(regex), { env, signal })).rejects.toThrow(
    'the rule for the Secret `shop-db` encrypts more than its values',
  )
})

test('a failure of sops is reported with its message', async () => {
  const wrong = { fields: ['age'], rule: { age: 'ssh-ed25519 AAAA' } }
  await expect(encryptByProgram(SECRET, wrong, { env, signal })).rejects.toMatchObject({
    message: '`sops` could not encrypt the Secret `shop-db`',
    notes: expect.arrayContaining([expect.stringContaining('ssh-ed25519')]),
  })
})

test('sops decrypts what devctl has encrypted, to the same Secret', async () => {
  const rule = { age: [RECIPIENT], encryptedRegex: SECRET_VALUES }
  const object = await encryptSecret(SECRET, rule, new Date('2026-05-04T03:02:01.999Z'))
  const folder = makeFolder({ 'key.txt': `${IDENTITY}\n` })
  writeFileSync(join(folder, 'secret.yaml'), printDocument({ source: 'compose.yaml#secrets.db', folder: 'db', object }))
  const plain = execFileSync('sops', ['decrypt', join(folder, 'secret.yaml')], {
    env: { ...env, SOPS_AGE_KEY_FILE: join(folder, 'key.txt') },
    encoding: 'utf8',
  })
  expect(load(plain)).toEqual(SECRET)
})
