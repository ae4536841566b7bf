import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { KubernetesObject } from '../../../../../constructs/manifest.ts'
import { encryptByProgram } from '../../../../../gitops/encryption/sops/program.ts'
import { SECRET_VALUES } from '../../../../../gitops/encryption/sops/rule.ts'
import { makeFolder } from '../../../../support/cli/folder.ts'
import { OTHER_RECIPIENT, RECIPIENT } from '../../../../support/gitops/sops/decrypt.ts'

const SECRET: KubernetesObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'shop-db', namespace: 'shop', labels: { n: '1' } },
  data: { password: 'aHVudGVyMg==', empty: '' },
}

/** Returns a rule with other groups of keys than one of age alone, which only the program can follow. */
const rule = (encrypted_regex: string) => ({
  fields: ['key_groups'],
  rule: { key_groups: [{ age: [OTHER_RECIPIENT, RECIPIENT] }], encrypted_regex },
})

/** Returns a folder with what a shell needs, and no `sops`. */
function folderWithShell(): string {
  const folder = makeFolder()
  for (const name of ['sh', 'cat']) symlinkSync(`/bin/${name}`, join(folder, name))
  return folder
}

const signal = AbortSignal.timeout(60_000)

describe('the program sops', () => {
  test('a missing program sops is reported', async () => {
    const nowhere = { PATH: folderWithShell() }
    await expect(encryptByProgram(SECRET, rule(SECRET_VALUES), { env: nowhere, signal })).rejects.toThrow(
      'the program `sops` is not installed, or not on the PATH, and `key_groups` needs it',
    )
  })

  const ENCRYPTED = {
    ...SECRET,
    data: { password: 'ENC[AES256_GCM,data:AAAA,iv:AAAA,tag:AAAA,type:str]', empty: '' },
    sops: {},
  }
  const LABELLED = { ...ENCRYPTED, metadata: { ...SECRET.metadata, labels: { n: ENCRYPTED.data.password } } }

  /** Returns the options for a `sops` that prints an object, whatever it reads. */
  const printing = (object: object) => {
    const folder = makeFolder({ sops: '#!/bin/sh\ncat >/dev/null\ncat "${0%/*}/printed.json"\n' })
    writeFileSync(join(folder, 'printed.json'), JSON.stringify(object))
    chmodSync(join(folder, 'sops'), 0o755)
    return { env: { PATH: `${folder}:${process.env.PATH}` }, signal }
  }

  // The test test/long/sops.test.ts runs the real program.
  test('the output of sops is accepted only if exactly the values are encrypted', async () => {
    expect(await encryptByProgram(SECRET, rule(SECRET_VALUES), printing(ENCRYPTED))).toEqual(ENCRYPTED)
    for (const wrong of [LABELLED, { ...SECRET, sops: {} }])
      await expect(encryptByProgram(SECRET, rule('data'), printing(wrong))).rejects.toThrow(
        'the rule for the Secret `shop-db` encrypts more than its values',
      )
  })

  // The real sops does this only with a server that does not answer.
  test('sops is ended at the signal, and a failure before it reads its input is an error', async () => {
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
