import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type TestPlatform } from '../support/platform/open-platform.ts'
import { measureNamespaces } from './many-namespaces.ts'

// Tests a platform with many namespaces, best on a cluster without other load.

const COUNT = Number(process.env.NAMESPACES ?? 1000)

describe.skipIf(!process.env.KUBECONFIG)(`${COUNT} namespaces`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-many-'))
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await openPlatform()
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true })
    await platform?.close()
  })

  test('many namespaces are listed and watched in little memory', async () => {
    const { shown, took, resident } = await measureNamespaces(platform, folder, COUNT)
    console.log(`${COUNT} namespaces: listed in ${took.toFixed(0)} ms, ${resident.toFixed(0)} MiB resident`)
    expect(shown.all).toBeGreaterThanOrEqual(COUNT)
    expect(shown.own).toBe(Math.ceil(COUNT / 2) + 1)
    expect(resident).toBeLessThanOrEqual(120)
  })
})
