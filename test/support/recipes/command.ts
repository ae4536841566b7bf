import type { Recipe } from '../recipe.ts'

/** Recipe of CONTRIBUTING.md, "Commands": `devctl count` prints the number of services in the files. */
export const command: Recipe = {
  added: {
    'cli/commands/count.ts': `import { command } from '../command.ts'
import { loading } from '../options/project.ts'

export const countCommand = command({
  name: 'count',
  group: 'Files',
  isSecondary: true,
  summary: 'Print how many services the files have',
  options: { ...loading },
  examples: [{ line: 'devctl count -f compose.yaml', does: 'count the services of a Compose file' }],
  async run(context, _words, options) {
    const { printCount } = await import('../run/count.ts')
    return printCount(context, options)
  },
})
`,
    'cli/run/count.ts': `import { countServices } from '../../operations/list/count.ts'
import type { Context } from '../command.ts'
import type { LoadingValues } from '../options/project.ts'
import { printDiagnostics } from '../terminal/report.ts'

/** Prints how many services the files have. */
export async function printCount({ io, logLevel }: Context, options: LoadingValues): Promise<number> {
  const outcome = await countServices({ workspace: io }, options)
  printDiagnostics(outcome.diagnostics, io, logLevel)
  if (outcome.kind === 'refused') return 1
  io.stdout.write(\`\${outcome.count}\\n\`)
  return 0
}
`,
    'operations/list/count.ts': `import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { ABOUT_OPTIONS, compileFiles } from '../../project/compile-files.ts'
import type { LoadInput } from '../../project/input.ts'
import type { LocalContext } from '../../project/session.ts'

/** Number of services in the files, or the diagnostics that prevent counting them. */
export type CountOutcome =
  | { readonly kind: 'counted'; readonly count: number; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }

/** Counts the services of an application. */
export async function countServices(
  { workspace }: Pick<LocalContext, 'workspace'>,
  input: LoadInput,
): Promise<CountOutcome> {
  const { plan, diagnostics: all } = await compileFiles(workspace, [], input, {})
  const diagnostics = all.filter(({ code }) => !ABOUT_OPTIONS.has(code))
  return plan ? { kind: 'counted', count: plan.serviceCount, diagnostics } : { kind: 'refused', diagnostics }
}
`,
    'test/unit/cli/count.test.ts': `import { expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

test('the services are counted', async () => {
  const cwd = makeFolder({ 'compose.yaml': 'services: {web: {image: nginx}, db: {image: postgres}}\\n' })
  expect(await run(['count'], { cwd })).toEqual({ status: 0, stdout: '2\\n', stderr: '' })
})
`,
  },
  edits: [
    [
      'cli/commands.ts',
      "import { cp } from './commands/cp.ts'\n",
      "import { countCommand } from './commands/count.ts'\n",
    ],
    ['cli/commands.ts', '  validate,\n', '  countCommand,\n'],
    ['package.json', '    "dist/man/devctl-credentials.1",\n', '    "dist/man/devctl-count.1",\n'],
    ['platform/rules/usage.ts', "  'context delete',\n", "  'count',\n"],
    [
      'api/operations.ts',
      'export {\n  type EndpointsInput',
      "export { type CountOutcome, countServices } from '../operations/list/count.ts'\n",
    ],
    ['docs/programs.md', '| `publish` | ', '| `countServices` | `devctl count` | |\n'],
  ],
}
