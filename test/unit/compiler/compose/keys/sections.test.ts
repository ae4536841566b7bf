import { expect, test } from 'vitest'
import { SECTIONS, SETTINGS } from '../../../../../compiler/compose/keys/sections.ts'

test('SECTIONS has the sections of an application, and SETTINGS has none of them', () => {
  const sections = ['configs', 'jobs', 'models', 'networks', 'secrets', 'services', 'volumes']
  expect([...SECTIONS]).toEqual(expect.arrayContaining(sections))
  expect([...SETTINGS]).toContain('endpoints')
  const others = [...sections, 'name', 'version', 'include']
  expect([...SETTINGS].filter(key => others.includes(key))).toEqual([])
})
