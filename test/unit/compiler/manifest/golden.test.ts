import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { renderDiagnostics } from '../../../../compiler/diagnostics/render/text.ts'
import { manifestCases, readCase } from '../../../support/manifest/cases.ts'
import { plainManifest } from '../../../support/manifest/plain.ts'
import { expectFile } from '../../../support/written-file.ts'

// Each folder of golden/manifest is a rule: manifest.json has the manifest read from devctl.yml,
// diagnostics.txt its diagnostics. `npx vitest run test/unit/compiler/manifest -u` updates them; read the diff.
describe('golden manifests', () => {
  for (const one of manifestCases()) {
    test(one.name, async () => {
      const { manifest, diagnostics } = readCase(one)
      const failed = diagnostics.some(({ severity }) => severity === 'error')
      const json = join(one.directory, 'manifest.json')
      const said = join(one.directory, 'diagnostics.txt')
      if (failed) expect(existsSync(json), 'a manifest beside errors').toBe(false)
      else await expectFile(`${JSON.stringify(plainManifest(manifest!), undefined, 2)}\n`, json)
      if (diagnostics.length === 0) expect(existsSync(said), 'diagnostics that nobody reports').toBe(false)
      else await expectFile(renderDiagnostics(diagnostics, { colour: false }), said)
    })
  }
})
