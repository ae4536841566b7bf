import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { composeDocument } from '../../compiler/compose/keys/document.ts'
import type { compile } from '../../compiler/index.ts'
import type { synth } from '../../constructs/synth.ts'
import { memoryHost } from '../plan/compose.ts'

/**
 * Follows CONVENTIONS.md, "Fields", in a copy of the sources: a field needs a row, a decision of
 * the plan, a line of a construct, and their types. `x-priority-class` becomes `priorityClassName`
 * of the Pod.
 */
const EDITS: readonly (readonly [path: string, before: string, line: string])[] = [
  [
    'compiler/compose/keys/isolation.ts',
    '  pid: {',
    "  'x-priority-class': { ...mapped(text(), '`priorityClassName`'), read: { priorityClass: read.text } },\n",
  ],
  ['compiler/compose/project.ts', '  readonly readOnly?: At<boolean>\n', '  readonly priorityClass?: At<string>\n'],
  ['compiler/plan/plan.ts', '  readonly runtimeClassName?: string\n', '  readonly priorityClassName?: string\n'],
  ['compiler/plan/pod/pod-settings.ts', "  | 'runtimeClassName'\n", "  | 'priorityClassName'\n"],
  [
    'compiler/plan/pod/pod-settings.ts',
    '    ...(hostAliases.length > 0 && { hostAliases }),\n',
    '    priorityClassName: services.find(({ priorityClass }) => priorityClass)?.priorityClass?.value,\n',
  ],
  ['constructs/pod/pod-spec.ts', '    runtimeClassName:', '    priorityClassName: plan.priorityClassName,\n'],
]

const root = join(import.meta.dirname, '..', '..')
const copy = mkdtempSync(join(import.meta.dirname, '.added-'))

beforeAll(() => {
  for (const folder of ['compiler', 'constructs']) cpSync(join(root, folder), join(copy, folder), { recursive: true })
  for (const [path, before, line] of EDITS) {
    const text = readFileSync(join(copy, path), 'utf8')
    expect(text.split(before).length, `${path} has \`${before}\` once`).toBe(2)
    writeFileSync(
      join(copy, path),
      text.replace(before, () => line + before),
    )
  }
})
afterAll(() => rmSync(copy, { recursive: true }))

test('a field added by the steps of CONVENTIONS.md reaches the manifests, merges and is documented', async () => {
  const fromCopy = <Module>(path: string): Promise<Module> => import(/* @vite-ignore */ join(copy, path))
  const compiler = await fromCopy<{ compile: typeof compile }>('compiler/index.ts')
  const constructs = await fromCopy<{ synth: typeof synth }>('constructs/synth.ts')
  const document = await fromCopy<{ composeDocument: typeof composeDocument }>('compiler/compose/keys/document.ts')

  const host = memoryHost({
    'compose.yaml': 'services:\n  web:\n    image: nginx\n    x-priority-class: low\n',
    'compose.override.yaml': 'services:\n  web:\n    x-priority-class: high\n',
  })
  const { plan, diagnostics } = compiler.compile({ workingDirectory: '/project', namespace: 'shop' }, host)
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  const deployment = constructs.synth(plan!).find(({ object }) => object.kind === 'Deployment')
  expect(deployment?.object).toMatchObject({ spec: { template: { spec: { priorityClassName: 'high' } } } })
  expect(document.composeDocument()).toContain('| `x-priority-class` | text | mapped | `priorityClassName` |')
}, 60_000)
