import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { readOutput } from '../../../../adapters/process/output-lines.ts'
import { Masker } from '../../../../compiler/values/secrets/masker.ts'

async function lines(chunks: readonly (string | Buffer)[], colours = false, secrets: readonly string[] = []) {
  const stream = Readable.from(
    chunks.map(chunk => Buffer.from(chunk)),
    { objectMode: false },
  )
  const found: string[] = []
  for await (const line of readOutput(stream, { masker: new Masker(secrets), colours })) found.push(line)
  return found
}

const ESC = '\u001b'

describe('readOutput', () => {
  test.each<[string, readonly (string | Buffer)[], readonly string[]]>([
    ['across chunks', ['a', 'b\nc', 'd\n'], ['ab', 'cd']],
    ['empty ones stay', ['\n\na\n'], ['', '', 'a']],
    ['the last without an end', ['a\nb'], ['a', 'b']],
    ['line ends of Windows, also cut in two', ['a\r', '\nb\r\n'], ['a', 'b']],
    ['progress: the last state', ['10%\r50%\r', '100%\ndone\n'], ['100%', 'done']],
    ['progress that ends with a return', ['10%\r100%\r'], ['100%']],
    ['a character in two chunks', [Buffer.from([0xc3]), Buffer.from([0xa4, 0x0a])], ['ä']],
    ['what is no UTF-8', [Buffer.from([0x61, 0xff, 0x62, 0x0a])], ['a\ufffdb']],
    ['no colours', [`${ESC}[31mred${ESC}[0m\n`], ['red']],
    ['no bells and other controls', ['a\u0007\u0000b\tc\n'], ['ab\tc']],
    ['nothing', [], []],
  ])('readOutput splits the output into lines: %s', async (_, chunks, expected) => {
    expect(await lines(chunks)).toEqual(expected)
  })

  test('readOutput keeps colors on request, but no movement of the cursor', async () => {
    expect(
      await lines([`${ESC}[2K${ESC}[1A${ESC}[31mred${ESC}[0m${ESC}]8;;http://x\u0007link${ESC}]8;;\u0007\n`], true),
    ).toEqual([`${ESC}[31mred${ESC}[0mlink`])
  })

  test('readOutput splits a huge line into pieces of at most 32768 characters and loses nothing', async () => {
    const text = '0123456789'.repeat(30_000)
    const found = await lines([text.slice(0, 100_001), text.slice(100_001), '\nend\n'])
    expect(found.pop()).toBe('end')
    expect(Math.max(...found.map(({ length }) => length))).toBeLessThanOrEqual(32_768)
    expect(found.join('')).toBe(text)
  })

  test('readOutput masks secrets across chunks, pieces of huge lines and colors', async () => {
    expect(await lines(['a hunt', 'er22 b\n'], false, ['hunter22'])).toEqual(['a *** b'])
    expect(await lines([`hun${ESC}[1mter22\n`], false, ['hunter22'])).toEqual(['***'])
    const found = await lines([`${'x'.repeat(32_764)}hunter22${'x'.repeat(100)}\n`], false, ['hunter22'])
    expect(found.join('')).toBe(`${'x'.repeat(32_764)}***${'x'.repeat(100)}`)
  })
})
