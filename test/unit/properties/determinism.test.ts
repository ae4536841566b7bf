import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { exampleCases } from '../../support/cases.ts'
import { rendered } from '../../support/properties/shuffle.ts'
import { few } from '../../support/takes-all.ts'

// Equal input gives the same bytes, whatever the folder that devctl runs in and the environment of the process.
// The order of keys is checked in golden.test.ts.

const work = mkdtempSync(join(tmpdir(), 'devctl-elsewhere-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

describe('independence of the folder and the environment of the process', () => {
  const changes: Readonly<Record<string, string>> = {
    TZ: 'Pacific/Kiritimati',
    LANG: 'tr_TR.UTF-8',
    LC_ALL: 'tr_TR.UTF-8',
    CDK8S_DISABLE_SORT: '1',
    CDK8S_LEGACY_HASH: '1',
    CDK8S_OUTDIR: '/nowhere',
    CDK8S_RECORD_CONSTRUCT_METADATA: 'true',
    KUBECONFIG: '/nowhere',
  }
  for (const one of few(exampleCases(), 6)) {
    test(one.name, async () => {
      const expected = await rendered(one, one.directory)
      const before = { ...process.env }
      Object.assign(process.env, changes)
      try {
        expect(await rendered(one, one.directory), 'variables').toBe(expected)
      } finally {
        for (const name of Object.keys(changes)) {
          if (before[name] === undefined) delete process.env[name]
          else process.env[name] = before[name]
        }
      }
      // Paths in COMPOSE_FILE begin in the folder that devctl runs in, as in Compose.
      const variables = join(one.directory, '.env')
      if (existsSync(variables) && readFileSync(variables, 'utf8').includes('COMPOSE_FILE=')) return
      const elsewhere = { ...one, args: [...one.args, '--project-directory', one.directory] }
      expect(await rendered(elsewhere, dirname(one.directory)), 'from the folder above').toBe(expected)
      expect(await rendered(elsewhere, work), 'from afar').toBe(expected)
    })
  }
})
