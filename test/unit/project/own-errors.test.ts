import { expect, test } from 'vitest'
import { compileFiles } from '../../../project/compile-files.ts'
import { withoutRemarks } from '../../../project/own-errors.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const COMPOSE = `services:
  api: {image: node, volumes: ["./src:/app"]}
  worker: {image: node, volumes: ["./jobs:/jobs"]}
`

test('remarks about a developed service are omitted, and those about others are not', async () => {
  const cwd = makeFolder({ 'compose.yaml': COMPOSE, 'src/a': '', 'jobs/b': '' })
  const workspace = { cwd, env: {}, readStdin: async () => new Uint8Array() }
  const { diagnostics, loaded } = await compileFiles(workspace, [], {})
  const codes = new Set(['volumes/host-read-only'])
  const left = (...names: readonly string[]) =>
    withoutRemarks(diagnostics, codes, names, loaded?.tree).flatMap(({ code, span }) =>
      codes.has(code) && span ? [span.file.text.slice(span.start, span.end)] : [],
    )
  expect(left()).toEqual([expect.stringContaining('./src'), expect.stringContaining('./jobs')])
  expect(left('api')).toEqual([expect.stringContaining('./jobs')])
  expect(withoutRemarks(diagnostics, codes, ['api', 'worker'], undefined)).toEqual(diagnostics)
})
