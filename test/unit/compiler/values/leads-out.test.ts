import { relative } from 'node:path'
import { expect, test } from 'vitest'
import { leadsOut } from '../../../../compiler/values/leads-out.ts'

test.each([
  ['/work/shop', '/work', true],
  ['/work/shop', '/work/blog/app.env', true],
  ['/work/shop', '/work/shop', false],
  ['/work/shop', '/work/shop/app.env', false],
  ['/work/shop', '/work/shop/..env', false],
  ['/work/shop', '/work/shop/..data/app.env', false],
])('the path from %s to %s leads out of the folder: %s', (folder, path, isOutside) => {
  expect(leadsOut(relative(folder, path))).toBe(isOutside)
})
