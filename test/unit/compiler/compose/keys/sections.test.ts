import { expect, test } from 'vitest'
import { SECTIONS, SETTINGS } from '../../../../../compiler/compose/keys/sections.ts'

test('the top-level keys of an application are found in the table', () => {
  const sections = ['configs', 'jobs', 'models', 'networks', 'secrets', 'services', 'volumes']
  expect([...SECTIONS]).toEqual(expect.arrayContaining(sections))
  expect([...SETTINGS]).toContain('endpoints')
  const others = [...sections, 'name', 'version', 'include']
  expect([...SETTINGS].filter(key => others.includes(key))).toEqual([])
})
