import { expect, test } from 'vitest'
import type { Output } from '../../../../cli/terminal/io.ts'
import { redacting, writeBytes } from '../../../../cli/terminal/redacting.ts'

const BYTES = Uint8Array.from([0xff, 0x00, 0x1b, 0x5b, ...Buffer.from('CREATE TABLE customers;\n')])

function outputs(own: Partial<Output> = {}) {
  const texts: string[] = []
  const parts: Uint8Array[] = []
  const output: Output = { isTTY: false, write: text => texts.push(text), ...own }
  const withBytes: Output = { ...output, writeBytes: async part => void parts.push(part) }
  const io = (stdout: Output) => ({
    stdout,
    stderr: output,
    readStdin: async () => new Uint8Array(),
    env: {},
    cwd: '/',
  })
  return { texts, parts, plain: redacting(io(output)), binary: redacting(io(withBytes)) }
}

test('bytes of a program are written unchanged, also if they contain a secret or control characters', async () => {
  const { parts, texts, binary } = outputs()
  binary.secrets.add(['customers'])
  await writeBytes(binary.stdout, BYTES)
  expect(Buffer.concat(parts)).toEqual(Buffer.from(BYTES))
  expect(texts).toEqual([])
})

test('bytes of a program are written as text without redaction to an output that takes text only', async () => {
  const { texts, plain } = outputs()
  plain.secrets.add(['customers'])
  await writeBytes(plain.stdout, Buffer.from('CREATE TABLE customers;\n'))
  expect(texts).toEqual(['CREATE TABLE customers;\n'])
})
