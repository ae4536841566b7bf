import { basename, dirname, join, relative } from 'node:path'
import { Ajv } from 'ajv'
import standaloneCode from 'ajv/dist/standalone/index.js'
import { transform } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { root } from '../../../support/cases.ts'
import { projectFiles } from '../../../support/project-files.ts'
import { expectFile } from '../../../support/written-file.ts'

const schemas = projectFiles().filter(path => path.endsWith('.schema.ts'))

/**
 * Validators are made of schemas here, not when devctl runs: ajv alone would take longer to load than all of devctl.
 */
describe('validators', () => {
  test.each(schemas)('the validators next to %s are generated from its schemas', async path => {
    const target = path.replace('.schema.ts', '.validators.ts')
    await expectFile(await validatorsOf(path), join(root, target))
  })
})

async function validatorsOf(path: string): Promise<string> {
  const schemas: Readonly<Record<string, object>> = await import(join(root, path))
  const names = Object.keys(schemas)
  const ajv = new Ajv({ code: { source: true, esm: true }, messages: false, allowUnionTypes: true })
  for (const name of names) ajv.addSchema(schemas[name]!, name)
  const code = standaloneCode.default(ajv, Object.fromEntries(names.map(name => [name, name])))
  const { code: small } = await transform(code, { format: 'esm', minify: true, treeShaking: true })
  const [, body, exported] = /^([\s\S]*)export\{(.*)\};\s*$/.exec(small)!
  // A helper of ajv that a schema needs would be a package that devctl has to load.
  expect(body).not.toMatch(/\b(?:require|import)\b/)
  const own = `./${basename(path)}`
  const parser = relative(dirname(path), 'adapters/json/parse-json.ts')
  const lines = exported!.split(',').map(one => {
    const [local, name = local] = one.split(' as ')
    return `export const ${name}: Validator<FromSchema<typeof schemas.${name}>> = ${local}`
  })
  return `// Made of ${own} by ajv; \`npm test -- -u\` writes it. Do not edit.
// @ts-nocheck
import type { FromSchema } from 'json-schema-to-ts'
import type { Validator } from '${parser}'
import type * as schemas from '${own}'

${body!.trim()}
${lines.join('\n')}
`
}
