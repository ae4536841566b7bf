import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FORGES } from '../../../../adapters/forge/forges.ts'
import { FORGE_KINDS } from '../../../../compiler/values/repository-names.ts'
import { root } from '../../../support/cases.ts'

const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

/** Modules that list the kinds. */
const LISTS = ['compiler/values/repository-names.ts', 'adapters/forge/forges.ts']
/** Modules in which a kind is a way to log in. */
const LOGINS = ['platform/install/install-providers.ts']
const quoted = (variable: string) => `\`${variable}\``
/** A kind as text, a module by its import or its key. */
const kinds = `(?:${FORGE_KINDS.join('|')})`
const named = new RegExp(`(['"\`])${kinds}\\1|(?:\\./|forge/)${kinds}\\.ts'|FORGES\\.${kinds}\\b`)

describe('modules of forges', () => {
  test("no other module names a forge's kind", () => {
    const sources = ['adapters', 'cli', 'compiler', 'operations'].flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter(path => path.endsWith('.ts'))
        .map(path => join(folder, path)),
    )
    expect(sources.length).toBeGreaterThan(100)
    const naming = sources.filter(path => named.test(textOf(path)))
    const modules = FORGE_KINDS.map(kind => `adapters/forge/${kind}.ts`)
    expect(naming.filter(path => ![...LISTS, ...LOGINS].includes(path)).sort()).toEqual(modules.sort())
  })

  test.each(FORGE_KINDS)('the answers of %s are recorded in a test of its own', kind => {
    expect(textOf(`test/unit/adapters/forge/${kind}.test.ts`)).toContain('forgeServer(')
  })

  test.each(FORGE_KINDS)('docs/gitops.md has the variables of %s', kind => {
    const { name, tokens, serverVariables } = FORGES[kind]
    const docs = textOf('docs/gitops.md')
    const row = docs.split('\n').find(line => line.startsWith(`| ${name}`) && line.includes('DEVCTL_FORGE_TOKEN'))
    const whole = `| ${name} | ${['DEVCTL_FORGE_TOKEN', ...tokens.names].map(quoted).join(', ')} |`
    expect(row, `docs/gitops.md, "Pull requests", the table of tokens: add the row \`${whole}\``).toBeDefined()
    for (const variable of tokens.names)
      expect(row, `docs/gitops.md: the row of ${name} in the table of tokens lacks ${variable}`).toContain(
        quoted(variable),
      )
    for (const variable of serverVariables)
      expect(
        textOf('docs/gitops/ci.md'),
        `docs/gitops/ci.md: add ${variable} to the variables that hold the server of a pipeline`,
      ).toContain(quoted(variable))
  })
})
