import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { Secret } from '../../../../project/contexts/secret.ts'
import { deleteContext, isPlatform, readContexts, saveContext } from '../../../../project/contexts/store.ts'
import { makeFolder, read } from '../../../support/cli/folder.ts'

const stored = (home: string) => JSON.parse(read(home)['contexts.json']!)

test('a secret shows only a placeholder when it is printed', () => {
  const secret = new Secret('hunter2')
  const shown = [
    `${secret}`,
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }),
    format('%s %o', secret, secret),
  ]
  expect(shown.join(' ')).not.toContain('hunter2')
  expect(JSON.stringify(secret)).toBe('"***"')
  expect(secret.reveal()).toBe('hunter2')
})

test.each([
  ['https://platform.example.com', true],
  ['HTTP://x', true],
  ['kind-dev', false],
  ['arn:aws:eks:eu-west-1:1:cluster/dev', false],
])('isPlatform(%s) returns %s', (name, expected) => expect(isPlatform(name)).toBe(expected))

describe('the store of contexts', () => {
  test('the store is empty without a file', () => {
    expect(readContexts(join(makeFolder(), 'none'))).toEqual({ current: undefined, contexts: new Map() })
  })

  test('saveContext adds to what is known about a context', async () => {
    const home = makeFolder()
    await saveContext(home, { name: 'kind', namespace: 'shop' }, true)
    await saveContext(home, { name: 'https://p.example.com', token: new Secret('hunter2') }, false)
    await saveContext(home, { name: 'kind', builder: 'docker' }, false)
    const { current, contexts } = readContexts(home)
    expect(current).toBe('kind')
    expect(contexts.get('kind')).toEqual({ name: 'kind', namespace: 'shop', builder: 'docker' })
    expect(contexts.get('https://p.example.com')?.token?.reveal()).toBe('hunter2')
  })

  test('a login with another token deletes the token for the cluster', async () => {
    const home = makeFolder()
    const name = 'https://p.example.com'
    const kubeToken = { token: new Secret('of-ann'), expires: '2030-01-01T00:00:00Z' }
    const ann = new Secret('login-of-ann')
    const known = () => readContexts(home).contexts.get(name)?.kubeToken?.token.reveal()
    await saveContext(home, { name, token: ann, kubeToken }, true)
    await saveContext(home, { name, token: ann, namespace: 'shop' }, true)
    await saveContext(home, { name, namespace: 'shop' }, true)
    expect(known()).toBe('of-ann')
    await saveContext(home, { name, token: new Secret('login-of-bob') }, true)
    expect(known()).toBeUndefined()
  })

  test('the store keeps the fields that a newer devctl has written', async () => {
    const home = makeFolder({
      'contexts.json': JSON.stringify({ version: 3, current: 'a', contexts: { a: { colour: 'red' }, b: {} } }),
    })
    await saveContext(home, { name: 'a', namespace: 'x' }, true)
    await deleteContext(home, 'b')
    expect(stored(home)).toEqual({ version: 3, current: 'a', contexts: { a: { colour: 'red', namespace: 'x' } } })
  })

  test('deleteContext deletes a context, even the current one', async () => {
    const home = makeFolder()
    await saveContext(home, { name: 'a' }, true)
    await saveContext(home, { name: 'b' }, false)
    expect(await deleteContext(home, 'c')).toBe(false)
    expect(await deleteContext(home, 'a')).toBe(true)
    expect(stored(home)).toEqual({ contexts: { b: {} } })
  })

  test('the store accepts any name of a context', async () => {
    const home = makeFolder()
    for (const name of ['__proto__', 'constructor', 'a b', 'ü"\\'])
      await saveContext(home, { name, namespace: 'n' }, true)
    expect([...readContexts(home).contexts.keys()]).toEqual(['__proto__', 'constructor', 'a b', 'ü"\\'])
    expect(await deleteContext(home, '__proto__')).toBe(true)
    expect(await deleteContext(home, 'toString')).toBe(false)
  })

  test.each([
    ['{"contexts": {"a": {"token": "hunter2"', 'it is not valid JSON'],
    ['[]', 'it must be an object'],
    ['{"current": 3}', '`current` must be a string'],
    ['{"contexts": []}', '`contexts` must be an object'],
    ['{"contexts": {"a": "hunter2"}}', '`contexts.a` must be an object'],
    [
      '{"contexts": {"https://p.example.com": {"token": ["hunter2"]}}}',
      '`contexts["https://p.example.com"].token` must be a string',
    ],
  ])('a file with %s is reported without its token, and stays unchanged', async (text, why) => {
    const home = makeFolder()
    writeFileSync(join(home, 'contexts.json'), text)
    const errors = [
      await saveContext(home, { name: 'a' }, true).catch(error => error),
      await Promise.resolve()
        .then(() => readContexts(home))
        .catch(error => error),
    ]
    for (const error of errors) {
      expect(error.message).toContain(`\`${join(home, 'contexts.json')}\` cannot be read: ${why}`)
      expect(inspect(error, { depth: 9 })).not.toContain('hunter2')
    }
    expect(read(home)).toEqual({ 'contexts.json': text })
  })
})
