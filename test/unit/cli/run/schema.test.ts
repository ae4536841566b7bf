import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { schemaOf } from '../../../../cli/run/schema.ts'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../../../compiler/text/parse.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'
import { MANIFEST_NAMES } from '../../../../project/names/nearest-manifests.ts'
import { exampleCases, goldenCases, root } from '../../../support/cases.ts'
import { manifestCases, readCase } from '../../../support/manifest/cases.ts'
import { plainTree } from '../../../support/manifest/plain.ts'
import { run } from '../../../support/run.ts'

// The schema accepts whatever the reader accepts, and refuses structural errors.

const ajv = new Ajv2020({ allErrors: false, strict: true, strictTypes: false, allowUnionTypes: true })
const manifestSchema = ajv.compile(schemaOf('manifest'))
const composeSchema = ajv.compile(schemaOf('compose'))

const STRUCTURAL =
  /^error\[(?:\w+\/unknown-key|(?:schema|manifest)\/(?:wrong-type|null-value|no-value|missing-key|not-allowed|out-of-range|bad-name|duplicate-item))\]/m

/** The documents of a file as JSON; undefined if it is not YAML, or has tags for merging. */
function documents(path: string): readonly unknown[] | undefined {
  const found = parseYaml(new SourceFile(path, readFileSync(path, 'utf8')), new Reporter())
  if (!found || found.some(({ resets }) => resets.length > 0)) return undefined
  return found.flatMap(({ tree }) => (tree ? [plainTree(tree)] : []))
}

function problem(schema: ValidateFunction, value: unknown): string {
  return schema(value) ? '' : JSON.stringify(schema.errors, undefined, 1)
}

describe('manifests', () => {
  // The schema is for manifests of devctl, not for those of Okteto.
  for (const one of manifestCases().filter(({ file }) => file === 'devctl.yml')) {
    const { diagnostics } = readCase(one)
    const errors = diagnostics.filter(({ severity }) => severity === 'error')
    const isStructural = errors.some(({ code }) => STRUCTURAL.test(`error[${code}]`))
    if (errors.length > 0 && !isStructural) continue
    const found = documents(join(one.directory, 'devctl.yml'))
    if (found === undefined) continue
    test(`the manifest ${one.name} is ${isStructural ? 'refused' : 'accepted'}`, () => {
      const said = problem(manifestSchema, found[0] ?? null)
      if (isStructural) expect(said).not.toBe('')
      else expect(said).toBe('')
    })
  }
})

describe('Compose files', () => {
  const cases = [...goldenCases(), ...exampleCases()].filter(({ stdin }) => stdin === '')
  for (const { name, directory } of cases) {
    const files = readdirSync(directory).filter(file => /^compose.*\.ya?ml$/.test(file))
    const said = existsSync(join(directory, 'diagnostics.txt'))
      ? readFileSync(join(directory, 'diagnostics.txt'), 'utf8')
      : ''
    const found = files.map(file => documents(join(directory, file)))
    if (files.length === 0 || found.some(one => one === undefined)) continue
    if (!/^error\[/m.test(said))
      test(`the Compose files of ${name} are accepted`, () => {
        for (const one of found.flatMap(all => all ?? [])) expect(problem(composeSchema, one)).toBe('')
      })
    // A schema cannot know the values of variables, and leaves the fields of `x-kubernetes` to devctl.
    else if (
      STRUCTURAL.test(said) &&
      !/^error.*`x-kubernetes\./m.test(said) &&
      !/ comes from | is set nowhere/.test(said) &&
      !/^error\[(?!\w+\/unknown-key|schema)/m.test(said) &&
      files.length === 1
    )
      test(`the Compose files of ${name} are refused`, () => {
        expect(found.flatMap(all => all ?? []).every(one => composeSchema(one))).toBe(false)
      })
  }
})

describe('devctl schema', () => {
  test.each(['manifest', 'compose'])('devctl schema %s prints a valid schema', async kind => {
    const { status, stdout, stderr } = await run(['schema', kind], { cwd: root })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const schema = JSON.parse(stdout) as Readonly<Record<string, unknown>> // the command prints an object
    expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema')
    expect(ajv.validateSchema(schema)).toBe(true)
  })

  test('every key of a manifest has a description', () => {
    const { properties } = schemaOf('manifest')
    for (const [key, field] of Object.entries(properties as Readonly<Record<string, { description?: string }>>)) // an object
      expect(field.description, key).toBeTruthy()
  })

  test('an unknown kind of schema is refused', async () => {
    expect((await run(['schema', 'chart'], { cwd: root })).status).toBe(2)
  })
})

test('the entry of SchemaStore names the schema of the manifest and all of its file names', () => {
  const catalog = JSON.parse(readFileSync(join(root, 'integrations/schemastore/catalog.json'), 'utf8'))
  expect(catalog).toMatchObject([{ url: schemaOf('manifest').$id, fileMatch: MANIFEST_NAMES }])
  expect(catalog[0].description).toBe(schemaOf('manifest').description)
})
