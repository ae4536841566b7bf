import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { composePages } from '../../../compiler/compose/keys/document.ts'
import type { compile } from '../../../compiler/index.ts'
import type { synth } from '../../../constructs/synth.ts'
import { root } from '../../support/cases.ts'
import { memoryHost } from '../../support/plan/compose.ts'
import { longTest } from '../../support/takes-all.ts'

/**
 * Follows CONTRIBUTING.md, "Keys", in a copy of the sources: a key needs a row, a decision of the
 * plan and a line of a construct, and the types between them. `x-preemption-policy` becomes
 * `preemptionPolicy` of the Pod.
 */
const EDITS: readonly (readonly [path: string, before: string, line: string])[] = [
  [
    'compiler/compose/keys/isolation.ts',
    '  pid: {',
    "  'x-preemption-policy': { ...mapped(text(), '`preemptionPolicy`'), read: { preemptionPolicy: read.text } },\n",
  ],
  ['compiler/compose/project.ts', '  readonly readOnly?: At<boolean>\n', '  readonly preemptionPolicy?: At<string>\n'],
  ['compiler/plan/plan.ts', '  readonly runtimeClassName?: string\n', '  readonly preemptionPolicy?: string\n'],
  [
    'compiler/plan/pod/pod-settings.ts',
    '    ...(hostAliases.length > 0 && { hostAliases }),\n',
    "    preemptionPolicy: agreed(context, 'x-preemption-policy', services, ({ preemptionPolicy }) => preemptionPolicy?.value),\n",
  ],
  ['constructs/pod/pod-spec.ts', '    runtimeClassName:', '    preemptionPolicy: plan.preemptionPolicy,\n'],
]

const copy = mkdtempSync(join(import.meta.dirname, '.added-'))

/** Exports of the copy that the tests use, bundled: loading its modules one by one takes ten times as long. */
interface Copy {
  readonly compile: typeof compile
  readonly synth: typeof synth
  readonly composePages: typeof composePages
}
let copied: Copy

beforeAll(async () => {
  for (const folder of ['compiler', 'constructs']) cpSync(join(root, folder), join(copy, folder), { recursive: true })
  for (const [path, before, line] of EDITS) {
    const text = readFileSync(join(copy, path), 'utf8')
    expect(text.split(before).length, `${path} has \`${before}\` once`).toBe(2)
    writeFileSync(
      join(copy, path),
      text.replace(before, () => line + before),
    )
  }
  const contents = `
    export { compile } from './compiler/index.ts'
    export { synth } from './constructs/synth.ts'
    export { composePages } from './compiler/compose/keys/document.ts'`
  const outfile = join(copy, 'bundle.mjs')
  const options = { bundle: true, format: 'esm', platform: 'node', packages: 'external', outfile } as const
  await build({ ...options, stdin: { contents, resolveDir: copy } })
  copied = await import(/* @vite-ignore */ outfile)
})
afterAll(() => rmSync(copy, { recursive: true }))

function render(files: Readonly<Record<string, string>>) {
  const { plan, diagnostics } = copied.compile({ workingDirectory: '/project', namespace: 'shop' }, memoryHost(files))
  const deployment = plan && copied.synth(plan).find(({ object }) => object.kind === 'Deployment')
  // The shape of a Deployment.
  const { template } = (deployment?.object['spec'] ?? {}) as { readonly template?: { readonly spec: object } }
  return { pod: template?.spec, diagnostics }
}

longTest('the copy passes the type checker', async () => {
  const options = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noEmit: true },
    include: ['compiler', 'constructs'],
  }
  writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(options))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const checked = promisify(execFile)(process.execPath, [tsc, '-p', copy, '--checkers', '2'])
  await expect(checked.catch(({ stdout }: { stdout: string }) => ({ stdout }))).resolves.toMatchObject({ stdout: '' })
})

test('the key reaches the manifests, merges and is documented', () => {
  const { pod, diagnostics } = render({
    'compose.yaml': 'services:\n  web:\n    image: nginx\n    x-preemption-policy: Never\n',
    'compose.override.yaml': 'services:\n  web:\n    x-preemption-policy: PreemptLowerPriority\n',
  })
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(pod).toMatchObject({ preemptionPolicy: 'PreemptLowerPriority' })
  expect(Object.keys(pod!).at(-2), 'a simple value comes before `containers`').toBe('preemptionPolicy')
  expect(copied.composePages().get('compose/services.md')).toContain(
    '| `x-preemption-policy` | text | mapped | `preemptionPolicy` |',
  )
})

test('different values in one Pod and a value of a hook are reported', () => {
  const { diagnostics } = render({
    'compose.yaml': `services:
  web:
    image: nginx
    x-preemption-policy: Never
    pre_start: [{command: [prepare], x-preemption-policy: PreemptLowerPriority}]
  helper: {image: nginx, network_mode: "service:web", x-preemption-policy: PreemptLowerPriority}
`,
  })
  const codes = diagnostics.filter(({ severity }) => severity !== 'info').map(({ code }) => code)
  expect(codes).toEqual(['pre-start/no-effect', 'groups/disagree'])
})
