import { expect, test } from 'vitest'
import { SECTIONS, SETTINGS } from '../../compiler/compose/keys/sections.ts'

test('the top-level keys of an application are found in the table', () => {
  expect([...SECTIONS].sort()).toEqual(['configs', 'jobs', 'models', 'networks', 'secrets', 'services', 'volumes'])
  expect([...SETTINGS]).toEqual(['endpoints'])
})
