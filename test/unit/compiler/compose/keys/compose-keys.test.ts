import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { rowOf, shapeAt } from '../../../../../compiler/compose/keys/lookup.ts'
import type { Shape } from '../../../../../compiler/schema/shape.ts'
import keys from './compose-keys.json' with { type: 'json' }
import { composeKeys } from './compose-keys.mjs'

/** Keys for which the dialect accepts more types than the schema, or Docker Compose fewer. */
const otherwise: Readonly<Record<string, string>> = {
  // The dialect reads a number without a unit as seconds.
  'services.*.stop_grace_period': 'integer string',
  'services.*.pre_start.[].stop_grace_period': 'integer string',
  'jobs.*.stop_grace_period': 'integer string',
  // A group ID is a whole number.
  'services.*.group_add.[]': 'integer string',
  'services.*.pre_start.[].group_add.[]': 'integer string',
  'jobs.*.group_add.[]': 'integer string',
}

const jsonTypes = ({ scalar, list, map }: Shape): string =>
  [...(scalar?.types ?? []), ...(list ? ['array'] : []), ...(map ? ['object'] : [])].sort().join(' ')

function missing(known: Readonly<Record<string, string>>): string[] {
  return Object.keys(known).filter(path => rowOf(path.split('.')) === undefined)
}

function otherwiseTyped(known: Readonly<Record<string, string>>): string[] {
  return Object.entries(known).flatMap(([path, types]) => {
    const shape = shapeAt(path.split('.'))
    const ours = shape ? jsonTypes(shape) : 'no shape'
    return ours === (otherwise[path] ?? types) ? [] : [`${path}: ${types}, in the table ${ours}`]
  })
}

describe('table of the keys of the Compose Specification', () => {
  test('compose-keys.json has more than 900 keys, and at least 93 keys of services', () => {
    expect(Object.keys(keys).length).toBeGreaterThan(900)
    expect(Object.keys(keys).filter(path => /^services\.\*\.\w+$/.test(path)).length).toBeGreaterThanOrEqual(93)
  })

  test('the table has a row for each key of compose-keys.json', () => expect(missing(keys)).toEqual([]))

  test('each row accepts the types of compose-keys.json, except for known differences', () =>
    // Docker Compose reads `include` before it validates, and ignores items without a value.
    expect(otherwiseTyped(keys).sort()).toEqual([
      'include.[].env_file: array string, in the table array null string',
      'include.[].path: array string, in the table array null string',
      'include.[].project_directory: string, in the table null string',
      'include.[]: object string, in the table null object string',
    ]))

  // COMPOSE_SCHEMA=path/to/compose-spec.json compares with a newer schema.
  const schema = process.env['COMPOSE_SCHEMA']
  if (schema)
    test('the table has all keys of the schema in COMPOSE_SCHEMA', () => {
      const found = composeKeys(JSON.parse(readFileSync(schema, 'utf8')))
      expect(missing(found)).toEqual([])
      expect(otherwiseTyped(found)).toEqual([])
    })
})
