import { expect, test } from 'vitest'
import type { Context } from '../../../../cli/command.ts'
import { showsReferences } from '../../../../cli/run/build.ts'

test.each<readonly [logLevel: Context['logLevel'], progress: string, isTTY: boolean, shows: boolean]>([
  ['warn', 'auto', true, true],
  ['warn', 'plain', true, false],
  ['warn', 'json', true, false],
  ['warn', 'auto', false, false],
  ['error', 'auto', true, false],
])('at log level %s with the progress %s on a terminal (%s), the display has shown the references: %s', (...row) => {
  const [logLevel, progress, isTTY, shows] = row
  const stream = { isTTY, write: () => {} }
  const io = { stdout: stream, stderr: stream, readStdin: async () => new Uint8Array(), env: {}, cwd: '/' }
  expect(showsReferences({ io, logLevel }, progress)).toBe(shows)
})
