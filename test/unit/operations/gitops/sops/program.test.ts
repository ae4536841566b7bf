import { chmodSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../../../constructs/manifest.ts'
import { encryptByProgram } from '../../../../../operations/gitops/sops/program.ts'
import { SECRET_VALUES } from '../../../../../operations/gitops/sops/rule.ts'
import { makeFolder } from '../../../../support/cli/folder.ts'
import { decrypt, OTHER_RECIPIENT, RECIPIENT } from '../../../../support/gitops/sops/decrypt.ts'
import { hasSops } from './has-sops.ts'

const SECRET: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'shop-db', namespace: 'shop', labels: { n: '1' } },
  data: { password: 'aHVudGVyMg==', empty: '' },
}

/** Other groups of keys than one of age alone, so that it is for the program. */
const rule = (encrypted_regex: string) => ({
  fields: ['key_groups'],
  rule: { key_groups: [{ age: [OTHER_RECIPIENT, RECIPIENT] }], encrypted_regex },
})

/** A folder with what a shell needs, and no `sops`. */
function folderWithShell(): string {
  const folder = makeFolder()
  for (const name of ['sh', 'cat']) symlinkSync(`/bin/${name}`, join(folder, name))
  return folder
}

const signal = AbortSignal.timeout(60_000)
const env = { PATH: process.env.PATH }

describe('the program sops', () => {
  test.skipIf(!hasSops)('encrypts what comes in on standard input', async () => {
    const encrypted = await encryptByProgram(SECRET, rule(SECRET_VALUES), { env, signal })
    expect(await decrypt(encrypted)).toEqual(SECRET)
  })

  test.skipIf(!hasSops).each(['^stringData$', 'data'])('a rule by which it encrypts %s is refused', async regex => {
    await expect(encryptByProgram(SECRET, rule(regex), { env, signal })).rejects.toThrow(
      'the rule for the Secret `shop-db` encrypts more than its values',
    )
  })

  test.skipIf(!hasSops)('says why it fails', async () => {
    const wrong = { fields: ['age'], rule: { age: 'ssh-ed25519 AAAA' } }
    await expect(encryptByProgram(SECRET, wrong, { env, signal })).rejects.toMatchObject({
      message: '`sops` could not encrypt the Secret `shop-db`',
      notes: expect.arrayContaining([expect.stringContaining('ssh-ed25519')]),
    })
  })

  test('is named where it is not there', async () => {
    const nowhere = { PATH: folderWithShell() }
    await expect(encryptByProgram(SECRET, rule(SECRET_VALUES), { env: nowhere, signal })).rejects.toThrow(
      'the program `sops` is not installed, or not on the PATH, and `key_groups` needs it',
    )
  })

  // What the real one does only with a server that does not answer.
  test('is ended at the signal, and one that reads nothing is an error', async () => {
    const folder = makeFolder({ sops: '#!/bin/sh\n[ -z "$HANGS" ] || exec sleep 100\necho no >&2\nexit 3\n' })
    chmodSync(join(folder, 'sops'), 0o755)
    const own = { PATH: `${folder}:${process.env.PATH}` }
    const large = { ...SECRET, data: { password: 'QUFB'.repeat(200_000) } }
    await expect(encryptByProgram(large, rule(SECRET_VALUES), { env: own, signal })).rejects.toMatchObject({
      notes: ['no'],
    })
    const ending = new AbortController()
    const stopped = new Error('stopped')
    setTimeout(() => ending.abort(stopped), 300)
    const hanging = encryptByProgram(SECRET, rule(SECRET_VALUES), {
      env: { ...own, HANGS: '1' },
      signal: ending.signal,
    })
    await expect(hanging).rejects.toBe(stopped)
  })
})
