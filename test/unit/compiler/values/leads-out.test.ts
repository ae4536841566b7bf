import { relative } from 'node:path'
import { expect, test } from 'vitest'
import { leadsOut } from '../../../../compiler/values/leads-out.ts'

test.each([
  ['/home/ann/shop', '/home/ann', true],
  ['/home/ann/shop', '/home/ann/blog/app.env', true],
  ['/home/ann/shop', '/home/ann/shop', false],
  ['/home/ann/shop', '/home/ann/shop/app.env', false],
  ['/home/ann/shop', '/home/ann/shop/..env', false],
  ['/home/ann/shop', '/home/ann/shop/..data/app.env', false],
])('the path from %s to %s leads out of the folder: %s', (folder, path, isOutside) => {
  expect(leadsOut(relative(folder, path))).toBe(isOutside)
})
