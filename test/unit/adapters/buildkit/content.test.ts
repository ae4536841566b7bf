import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { contentHandlers } from '../../../../adapters/buildkit/content/content-service.ts'
import { ALREADY_EXISTS, FAILED_PRECONDITION, NOT_FOUND } from '../../../../adapters/buildkit/session/call-error.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const digestOf = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

/** Calls a method of the service for a folder, and returns its responses. */
async function call(
  folder: string,
  method: string,
  requests: readonly unknown[],
  { isWritable = true, store = 'local:x' } = {},
): Promise<readonly Record<string, unknown>[]> {
  const responses: Record<string, unknown>[] = []
  const stores = new Map([['local:x', { folder, isWritable }]])
  await contentHandlers(stores)[method]!({
    valuesOf: (name: string) => (name === 'buildkit-attachable-store-id' ? [store] : []),
    requests: (async function* () {
      yield* requests
    })(),
    send: async (response: Record<string, unknown>) => {
      responses.push(response)
    },
  } as never)
  return responses
}

const codeOf = (calling: Promise<unknown>) =>
  calling.then(
    () => 'done',
    ({ code }) => code,
  )
const COMMIT = 2
const commit = (text: string, more = {}) => ({
  action: COMMIT,
  data: Buffer.from(text),
  total: text.length,
  expected: digestOf(text),
  ...more,
})

describe('the folder of a cache', () => {
  test('a cache folder stores a blob in pieces and returns it from any offset', async () => {
    const folder = makeFolder()
    const expected = digestOf('hello')
    const pieces = [
      { ref: 'r', total: 5, expected },
      { action: 1, data: Buffer.from('hel') },
      { action: 1, offset: 3, data: Buffer.from('lo') },
      { action: COMMIT, offset: 5, total: 5, expected },
    ]
    const responses = await call(folder, 'Write', pieces)
    expect(responses.map(({ offset }) => offset)).toEqual([0, 3, 5, 5])
    expect(responses.at(-1)).toMatchObject({ digest: expected })
    expect(await call(folder, 'Info', [{ digest: expected }])).toEqual([{ info: { digest: expected, size: 5 } }])
    expect(await call(folder, 'Read', [{ digest: expected }])).toEqual([{ offset: 0, data: Buffer.from('hello') }])
    expect(await call(folder, 'Read', [{ digest: expected, offset: 1, size: 3 }])).toEqual([
      { offset: 1, data: Buffer.from('ell') },
    ])
    expect(await call(folder, 'Read', [{ digest: expected, offset: 9, size: 3 }])).toEqual([])
    expect(await codeOf(call(folder, 'Write', [{ ref: 'r', expected }]))).toBe(ALREADY_EXISTS)
  })

  test.each([
    ['another digest', commit('hello', { expected: digestOf('other') })],
    ['another size', commit('hello', { total: 6 })],
    ['a hole', commit('hello', { offset: 3 })],
  ])('a cache folder refuses a blob with %s', async (_, request) => {
    const folder = makeFolder()
    expect(await codeOf(call(folder, 'Write', [request]))).toBe(FAILED_PRECONDITION)
    expect(readdirSync(join(folder, 'blobs/sha256'))).toEqual([])
    expect(readdirSync(join(folder, 'ingest'))).toEqual([])
  })

  test('a cache folder keeps nothing of an incomplete blob', async () => {
    const folder = makeFolder()
    await call(folder, 'Write', [{ action: 1, data: Buffer.from('hel') }])
    expect(readdirSync(join(folder, 'ingest'))).toEqual([])
  })

  test('a cache folder returns no other files, and is written only for an export', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'secret'), 'secret')
    for (const digest of ['sha256:../../secret', '../secret', 'sha256:', 'md5:00', `sha256:${'A'.repeat(64)}`, '']) {
      expect(await codeOf(call(folder, 'Info', [{ digest }]))).toBe(NOT_FOUND)
      expect(await codeOf(call(folder, 'Read', [{ digest }]))).toBe(NOT_FOUND)
    }
    expect(await codeOf(call(folder, 'Write', [commit('x')], { isWritable: false }))).toBe(FAILED_PRECONDITION)
    expect(existsSync(join(folder, 'blobs'))).toBe(false)
    expect(await codeOf(call(folder, 'Info', [{ digest: digestOf('x') }], { store: 'local:/etc' }))).toBe(NOT_FOUND)
  })

  test('a cache folder behind a link is written', async () => {
    const folder = makeFolder()
    mkdirSync(join(folder, 'real'))
    symlinkSync('real', join(folder, 'link'))
    await call(join(folder, 'link'), 'Write', [commit('hello')])
    const [hex] = readdirSync(join(folder, 'real/blobs/sha256'))
    expect(readFileSync(join(folder, 'real/blobs/sha256', hex!), 'utf8')).toBe('hello')
  })
})
