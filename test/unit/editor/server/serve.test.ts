import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { serveEditor } from '../../../../editor/server/serve.ts'
import { writeFiles } from '../../../support/editor/ask.ts'
import { EditorClient, positionAt, uriOf } from '../../../support/editor/client.ts'

/** Starts a server in this process, and a client that has opened the folder of a project. */
async function served(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  const folder = writeFiles(files)
  const [input, output] = [new PassThrough(), new PassThrough()]
  const errors: unknown[] = []
  const workspace = { cwd: '/', env: { HOME: folder, ...env }, readStdin: async () => new Uint8Array() }
  const onError = (error: unknown) => errors.push(error)
  const ended = serveEditor({ input, output, workspace, version: '1.2.3', onError })
  const client = new EditorClient(output, input)
  const started = await client.start(folder)
  onTestFinished(() => {
    client.connection.dispose()
    input.destroy()
  })
  return { client, folder, errors, ended, input, started, path: (name: string) => join(folder, name) }
}

const GOOD = 'services:\n  web:\n    image: x\n    ports: ["80"]\n'
const BAD = GOOD.replace('ports', 'prots')
const REQUESTS = ['hover', 'completion', 'definition'] as const

describe('diagnostics', () => {
  test('are those of the unsaved text, and end when it is corrected', async () => {
    const { client, path } = await served({ 'compose.yaml': GOOD })
    await client.open(path('compose.yaml'), BAD)
    await client.codes(path('compose.yaml'), ['services/unknown-key'])
    const range = { start: { line: 3, character: 4 }, end: { line: 3, character: 9 } }
    await client.change(path('compose.yaml'), { range, text: 'ports' })
    await client.codes(path('compose.yaml'), [])
  })

  test('of a Compose file change with the unsaved text of another file of the project', async () => {
    const { client, path } = await served({
      'compose.yaml': 'include: [other.yaml]\nservices:\n  web: {image: x, depends_on: [api]}\n',
      'other.yaml': 'services:\n  api: {image: y}\n',
    })
    const [compose, other] = [path('compose.yaml'), path('other.yaml')]
    await client.open(compose, 'include: [other.yaml]\nservices:\n  web: {image: x, depends_on: [api]}\n')
    await client.open(other, 'services:\n  api: {image: y}\n')
    await client.change(other, { text: 'services:\n  apis: {image: y}\n' })
    await client.codes(compose, ['reference/undefined'])
    await client.close(other)
    await client.codes(compose, [])
  })

  test('are those of the files on disk after a change by another program', async () => {
    const { client, path } = await served({ 'compose.yaml': GOOD, 'web.env': 'A=1\n' })
    await client.open(path('compose.yaml'), `${GOOD}    env_file: web.env\n`)
    await client.request('textDocument/documentSymbol', { textDocument: { uri: uriOf(path('compose.yaml')) } })
    rmSync(path('web.env'))
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', {
      changes: [{ uri: uriOf(path('web.env')), type: 3 }],
    })
    await client.codes(path('compose.yaml'), ['files/not-found'])
  })

  test('about missing files end when another program creates the files', async () => {
    const text = `include: [other.yaml]\n${GOOD.replace('x', 'x:${TAG:?}')}    env_file: web.env\n`
    const { client, path } = await served({ 'compose.yaml': text })
    await client.open(path('compose.yaml'), text)
    await client.codes(path('compose.yaml'), ['files/not-found', 'interpolation/required', 'files/not-found'])
    const files = { 'other.yaml': 'services: {}\n', 'web.env': 'A=1\n', '.env': 'TAG=1\n' }
    for (const [name, content] of Object.entries(files)) writeFileSync(path(name), content)
    await client.connection.sendNotification('workspace/didChangeWatchedFiles', {
      changes: Object.keys(files).map(name => ({ uri: uriOf(path(name)), type: 1 })),
    })
    await client.codes(path('compose.yaml'), [])
  })

  test('about a missing file end when the file is a new document', async () => {
    const text = `include: [other.yaml]\n${GOOD}`
    const { client, path } = await served({ 'compose.yaml': text })
    await client.open(path('compose.yaml'), text)
    await client.codes(path('compose.yaml'), ['files/not-found'])
    await client.open(path('other.yaml'), 'services: {}\n')
    await client.codes(path('compose.yaml'), [])
  })

  test('end when the document is closed', async () => {
    const { client, path } = await served({ 'compose.yaml': BAD })
    await client.open(path('compose.yaml'), BAD)
    await client.codes(path('compose.yaml'), ['services/unknown-key'])
    await client.close(path('compose.yaml'))
    await client.codes(path('compose.yaml'), [])
  })

  test('are those of a new document that is not on disk yet', async () => {
    const { client, path } = await served({ 'README.md': '' })
    await client.open(path('app/compose.yaml'), BAD)
    await client.codes(path('app/compose.yaml'), ['services/unknown-key'])
    await client.open(path('new/devctl.yml'), 'deploi: {}\n')
    await client.codes(path('new/devctl.yml'), ['manifest/unknown-key', 'files/no-compose-file'])
  })

  test('of a manifest are those of the manifest', async () => {
    const { client, path } = await served({ 'devctl.yml': 'deploy:\n  compose: compose.yaml\n', 'compose.yaml': GOOD })
    await client.open(path('devctl.yml'), 'deploy:\n  compose: compose.yaml\nenvironmnts: {}\n')
    await client.codes(path('devctl.yml'), ['manifest/unknown-key'])
  })

  test('of a Compose file of an environment are those of the environment', async () => {
    const { client, path } = await served({
      'devctl.yml': 'deploy: {compose: compose.yaml}\nenvironments:\n  prod:\n    compose: prod.yaml\n',
      'compose.yaml': GOOD,
      'prod.yaml': 'services:\n  web:\n    imge: y\n',
    })
    await client.open(path('prod.yaml'), 'services:\n  web:\n    imge: y\n')
    const [found] = await client.codes(path('prod.yaml'), ['services/unknown-key'])
    expect(found?.range.start).toEqual({ line: 2, character: 4 })
  })

  test('are those before the time limit of a compilation', async () => {
    const { client, path } = await served({ 'compose.yaml': GOOD }, { DEVCTL_LIMITS: 'seconds=0' })
    await client.open(path('compose.yaml'), GOOD)
    await client.codes(path('compose.yaml'), ['limits/exceeded'])
  })

  test('of a file beside the Compose file are those of both', async () => {
    const { client, path } = await served({ 'compose.yaml': GOOD, 'compose.test.yaml': '' })
    await client.open(path('compose.test.yaml'), 'services:\n  web:\n    imge: y\n')
    await client.codes(path('compose.test.yaml'), ['services/unknown-key'])
  })

  test('do not exist for a YAML file that is not one of devctl', async () => {
    const { client, path, errors } = await served({ 'compose.yaml': GOOD, '.github/workflows/ci.yml': '' })
    await client.open(path('.github/workflows/ci.yml'), 'on: push\njobs:\n  test: {}\n')
    expect(await client.at('hover', path('.github/workflows/ci.yml'), 'on: push\njo‸bs:\n  test: {}\n')).toBeNull()
    await client.codes(path('.github/workflows/ci.yml'), [])
    expect(errors).toEqual([])
  })

  test('without a position are at the start of the document', async () => {
    const { client, path } = await served({ 'compose.yaml': GOOD }, { DEVCTL_LIMITS: 'x' })
    await client.open(path('compose.yaml'), GOOD)
    const [found] = await client.codes(path('compose.yaml'), ['limits/invalid'])
    expect(found?.range.start).toEqual({ line: 0, character: 0 })
  })
})

describe('the server', () => {
  test('says what it can do, and its version', async () => {
    const { started } = await served({ 'compose.yaml': GOOD })
    expect(started.serverInfo).toEqual({ name: 'devctl', version: '1.2.3' })
    expect(Object.keys(started.capabilities)).toEqual(
      expect.arrayContaining(['hoverProvider', 'completionProvider', 'definitionProvider', 'codeActionProvider']),
    )
  })

  test('answers requests while the text is broken, from the last text that was not', async () => {
    const { client, path } = await served({ 'compose.yaml': GOOD, 'other.yaml': '' })
    const other = 'include: [other.yaml]\nservices:\n  web:\n    image: x\n'
    writeFileSync(path('other.yaml'), 'services:\n  api: {image: y}\n')
    await client.open(path('compose.yaml'), other)
    const symbols = { textDocument: { uri: uriOf(path('compose.yaml')) } }
    await client.request('textDocument/documentSymbol', symbols)
    const broken = `${other}    labels: {a: "b\n    depends_on: [‸`
    await client.change(path('compose.yaml'), { text: broken.replace('‸', '') })
    await client.codes(path('compose.yaml'), ['yaml/syntax'])
    const { items } = (await client.at('completion', path('compose.yaml'), broken)) as { items: { label: string }[] }
    expect(items.map(({ label }) => label)).toContain('api')
  })

  test('fixes a misspelt key', async () => {
    const { client, path } = await served({ 'compose.yaml': BAD })
    await client.open(path('compose.yaml'), BAD)
    await client.codes(path('compose.yaml'), ['services/unknown-key'])
    const range = { start: { line: 3, character: 5 }, end: { line: 3, character: 5 } }
    const params = { textDocument: { uri: uriOf(path('compose.yaml')) }, range, context: { diagnostics: [] } }
    expect(await client.request('textDocument/codeAction', params)).toMatchObject([{ title: 'Change to `ports`' }])
  })

  test('answers a request that it cannot fulfil with an error, and continues', async () => {
    const { client, path } = await served({ 'compose.yaml': GOOD })
    await client.open(path('compose.yaml'), GOOD)
    await expect(client.request('textDocument/unknown', {})).rejects.toThrow('Unhandled method')
    await expect(client.request('textDocument/hover', {})).rejects.toThrow()
    expect(await client.at('hover', path('missing.yaml'), '‸')).toBeNull()
    expect(await client.at('hover', path('compose.yaml'), GOOD.replace('image', 'im‸age'))).not.toBeNull()
  })

  test('continues after a message that is not JSON', async () => {
    const { client, path, input, errors } = await served({ 'compose.yaml': GOOD })
    input.write('Content-Length: 5\r\n\r\n{{{{{')
    await client.open(path('compose.yaml'), GOOD)
    expect(await client.at('hover', path('compose.yaml'), GOOD.replace('image', 'im‸age'))).not.toBeNull()
    expect(errors).not.toEqual([])
  })

  test('ends after a shutdown, and when the editor is gone', async () => {
    const { client, ended } = await served({ 'compose.yaml': GOOD })
    await client.end()
    expect(await ended).toBe(true)
    const other = await served({ 'compose.yaml': GOOD })
    other.input.destroy()
    expect(await other.ended).toBe(false)
  })

  test('answers every request while a file is typed character by character', async () => {
    const text = `x-base: &base
  restart: always
services:
  web:
    <<: *base
    image: "nginx:\${TAG:-1.27}"
    depends_on: {db: {condition: service_healthy}}
    ports: ["80:80", {target: 81}]
    command: |
      echo 'a: b'
  db: {image: x, volumes: [data:/x]}
volumes: {data: }
`
    const { client, path, errors } = await served({ 'compose.yaml': '', '.env': 'TAG=1\n' })
    const file = path('compose.yaml')
    await client.open(file, '')
    for (let at = 0; at < text.length; at++) {
      const start = positionAt(text, at)
      await client.change(file, { range: { start, end: start }, text: text[at] })
      const position = positionAt(text, at + 1)
      const params = { textDocument: { uri: uriOf(file) }, position }
      await Promise.all(REQUESTS.map(method => client.request(`textDocument/${method}`, params)))
    }
    await client.request('textDocument/documentSymbol', { textDocument: { uri: uriOf(file) } })
    await client.codes(file, ['image/not-known'])
    expect(errors).toEqual([])
  })

  test('answers questions about a large file', async () => {
    const services = Array.from({ length: 500 }, (_, at) => `  s${at}:\n    image: x\n    labels: {a: b}\n`)
    const text = `services:\n${services.join('')}`
    const { client, path } = await served({ 'compose.yaml': text })
    await client.open(path('compose.yaml'), `${text}    restart: always\n`)
    const { items } = (await client.at('completion', path('compose.yaml'), `${text}    restart: ‸always\n`)) as {
      items: readonly unknown[]
    }
    expect(items.length).toBeGreaterThan(2)
  })
})

describe('input that is not of the protocol', () => {
  const serve = (text: string) => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    const errors: unknown[] = []
    const workspace = { cwd: '/', env: {}, readStdin: async () => new Uint8Array() }
    const ended = serveEditor({ input, output, workspace, version: '1', onError: error => errors.push(error) })
    input.write(text)
    return { input, errors, ended }
  }

  test.each([
    ['no headers', 'hello world\r\n\r\n', "Message header must separate key and value using ':'"],
    ['no length', 'Content-Length: abc\r\n\r\n{}', 'Content-Length value must be a number'],
    ['no JSON', 'Content-Length: 5\r\n\r\n{nope', 'in JSON at position 1'],
  ])('the server reports it as an error of the connection, not of devctl: %s', async (_, text, message) => {
    const { errors, input, ended } = serve(text)
    await vi.waitFor(() => expect(errors).toHaveLength(1))
    expect(errors[0]).toBeInstanceOf(UserError)
    expect((errors[0] as UserError).message).toContain(`the connection to the editor failed: `)
    expect((errors[0] as UserError).message).toContain(message)
    input.destroy()
    expect(await ended).toBe(false)
  })

  test('an unfinished message leaves no timer, which would keep the process', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { input, ended } = serve('Content-Length: 99999\r\n\r\n{')
    await new Promise(resolve => setImmediate(resolve))
    expect(vi.getTimerCount()).toBe(0)
    input.destroy()
    expect(await ended).toBe(false)
  })
})
