import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { renderDiagnostics } from '../../compiler/diagnostics/render/text.ts'
import { manifestCases, readCase } from './cases.ts'
import { plainManifest } from './plain.ts'

// Each folder of golden/manifest is a rule: how its devctl.yml is read is in manifest.json, what is said about it in diagnostics.txt.
// `npx vitest run test/manifest -u` writes them anew; read the difference before you keep it.
describe('golden manifests', () => {
  for (const one of manifestCases()) {
    test(one.name, async () => {
      const { manifest, diagnostics } = readCase(one)
      const failed = diagnostics.some(({ severity }) => severity === 'error')
      const json = join(one.directory, 'manifest.json')
      const said = join(one.directory, 'diagnostics.txt')
      if (failed) expect(existsSync(json), 'a manifest beside errors').toBe(false)
      else await expect(`${JSON.stringify(plainManifest(manifest!), undefined, 2)}\n`).toMatchFileSnapshot(json)
      if (diagnostics.length === 0) expect(existsSync(said), 'diagnostics that nobody reports').toBe(false)
      else await expect(renderDiagnostics(diagnostics, { colour: false })).toMatchFileSnapshot(said)
    })
  }
})
