import { expect, test } from 'vitest'
import { shortened } from '../../../../../compiler/diagnostics/render/shorten.ts'
import { makeFolder } from '../../../../support/cli/folder.ts'
import { run } from '../../../../support/run.ts'

const diagnostic = (message: string, hint?: string) =>
  ({ code: 'a/b', severity: 'error', message, ...(hint !== undefined && { hint }) }) as const

test('long values are cut, and the words around them stay', () => {
  const long = 'x'.repeat(100_000)
  const { message, hint } = shortened(
    diagnostic(`bad size \`${long}\`: too \`long\``, `write ${long} or \`1h ${long}\``),
  )
  expect(message).toBe(`bad size \`${'x'.repeat(200)}…\`: too \`long\``)
  expect(hint).toBe(`write ${'x'.repeat(200)}… or \`1h ${'x'.repeat(197)}…\``)
})

test('long messages of short values stay as they are', () => {
  const message = 'one `word` after the other, '.repeat(50)
  expect(shortened(diagnostic(message)).message).toBe(message)
})

test('a secret is masked before it is cut in two', () => {
  const text = `\`${'x'.repeat(195)}Zx9-quartz-Vb7 and more\``
  expect(shortened(diagnostic(text), one => one.replaceAll('Zx9-quartz-Vb7', '***')).message).not.toContain('Zx9')
})

test('no character is cut in two', () => {
  expect(shortened(diagnostic(`\`${'x'.repeat(199)}😀😀\``)).message).toBe(`\`${'x'.repeat(199)}…\``)
})

test('an error in a value of 100 KB prints only short lines', async () => {
  const size = '1'.repeat(100_000)
  const folder = makeFolder({
    'compose.yaml': `services: {a: {image: x, shm_size: ${size}q, stop_grace_period: ${size}}}\n`,
  })
  const { stderr } = await run(['render'], { cwd: folder })
  expect(stderr).toContain('error[')
  expect(Math.max(...stderr.split('\n').map(line => line.length))).toBeLessThan(500)
})
