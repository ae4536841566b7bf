import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { root } from './cases.ts'

/** The path of the program for tests that start it. Fails if it is not built. */
export function program(): string {
  expect(existsSync(join(root, 'dist/bin/devctl.cjs')), 'devctl is not built: run `npm run build`').toBe(true)
  return join(root, 'bin/devctl.cjs')
}
