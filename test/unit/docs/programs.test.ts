import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as operations from '../../../api/operations.ts'
import { root } from '../../support/cases.ts'

test('docs/programs.md lists the functions of `devctl/operations`', () => {
  const page = readFileSync(join(root, 'docs/programs.md'), 'utf8')
  const listed = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name!)
  const isFunction = ([, value]: [string, unknown]) => typeof value === 'function' && !/^class\b/.test(String(value))
  const exported = Object.entries(operations)
    .filter(isFunction)
    .map(([name]) => name)
  const message = 'docs/programs.md, the table of functions: a row for each function that api/operations.ts exports'
  expect(listed.sort(), message).toEqual(exported.sort())
})
