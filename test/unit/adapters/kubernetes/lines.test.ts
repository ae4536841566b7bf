import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readLines } from '../../../../adapters/kubernetes/lines.ts'

const LONG = 'x'.repeat(50)

test.each([
  [
    [LONG, '\nnext\n'],
    [LONG, 'next'],
  ],
  [
    [LONG, '\r\nnext\n'],
    [LONG, 'next'],
  ],
  [
    [LONG, '\n\nnext\n'],
    [LONG, '', 'next'],
  ],
  [
    [LONG, 'rest\nnext\n'],
    [LONG, 'rest', 'next'],
  ],
  [
    [LONG, LONG, '\n', LONG],
    [LONG, LONG, LONG],
  ],
  [
    ['\n\n', 'a\r\n', 'b'],
    ['', '', 'a', 'b'],
  ],
])('the end of a line that comes in pieces is no further line: %j', async (chunks, expected) => {
  const found: string[] = []
  const stream = Readable.from(chunks.map(chunk => Buffer.from(chunk)))
  for await (const line of readLines(stream, 40)) found.push(line)
  expect(found).toEqual(expected)
})
