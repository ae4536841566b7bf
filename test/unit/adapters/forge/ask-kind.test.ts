import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ForgeAnswer } from '../../../../adapters/forge/api/exchange.ts'
import { findForge } from '../../../../adapters/forge/ask-kind.ts'
import { ALL_FORGES } from '../../../../adapters/forge/forges.ts'

type Answers = (request: IncomingMessage, response: ServerResponse) => void

/** Starts a server and records its requests. */
async function serving(answers: Answers) {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    answers(request, response)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { asked, repository: `http://127.0.0.1:${port}/acme/deploy.git`, port }
}

const reply =
  (path: string, status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answers =>
  (request, response) => {
    if (request.url === path) response.writeHead(status, headers).end(body)
    else response.writeHead(404).end('<html>not found</html>')
  }

const TOKENS = { DEVCTL_FORGE_TOKEN: 'secret', GITEA_TOKEN: 'secret', GITLAB_TOKEN: 'secret', GITHUB_TOKEN: 'secret' }
const never = new AbortController().signal

/** The answers of servers to the question of their own kind. */
const ANSWERS: readonly (readonly [kind: string, answer: ForgeAnswer])[] = [
  ['gitea', { status: 200, text: '{"version":"1.24.0"}', headers: {} }],
  ['gitea', { status: 403, text: '{"message":"x","url":"https://git.example.com/api/swagger"}', headers: {} }],
  ['gitlab', { status: 401, text: '{"message":"401 Unauthorized"}', headers: { 'x-gitlab-meta': '{}' } }],
  ['github', { status: 401, text: '{}', headers: { 'x-github-request-id': '1' } }],
  ['github', { status: 200, text: '{}', headers: { 'x-github-enterprise-version': '3.17' } }],
]
const asking = ALL_FORGES.flatMap(({ kind, question }) => (question ? [{ kind, question }] : []))

test('each kind of forge recognizes its own answer, and no other kind does', () => {
  expect([...new Set(ANSWERS.map(([kind]) => kind))].sort()).toEqual(asking.map(({ kind }) => kind as string).sort())
  for (const [own, answer] of ANSWERS)
    expect(asking.filter(({ question }) => question.isIt(answer)).map(({ kind }) => kind)).toEqual([own])
})

describe('findForge', () => {
  test.each(ANSWERS)('findForge recognizes %s without a token', async (kind, { status, text, headers }) => {
    const { path } = asking.find(one => one.kind === kind)!.question
    const { repository, asked } = await serving(reply(path, status, text, headers as Readonly<Record<string, string>>))
    const forge = await findForge(repository, { ...TOKENS, DEVCTL_FORGE_TOKEN_HOST: '127.0.0.1' }, {}, never)
    expect(forge?.kind).toBe(kind)
    const sent = JSON.stringify(asked.map(({ headers, url }) => ({ headers, url })))
    expect(sent).not.toContain('secret')
    expect(sent).not.toMatch(/authorization|private-token/i)
  })

  test.each<[string, Answers]>([
    ['a page for everything', (_, response) => response.writeHead(200).end('<html></html>')],
    ['JSON for everything', (_, response) => response.writeHead(200).end('{"version":1}')],
    ['null', (_, response) => response.writeHead(200).end('null')],
    ['nothing', (_, response) => void response.destroy()],
    ['a redirect', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
  ])('findForge finds no forge when the server answers with %s', async (_, answers) => {
    const { repository } = await serving(answers)
    expect(await findForge(repository, TOKENS, {}, never)).toBeUndefined()
  })

  test.each(asking.map(({ question }) => question.path))(
    'findForge takes the first kind in the list if all kinds match, even if `%s` answers last',
    async last => {
      let answered = 0
      let release = () => {}
      const others = new Promise<void>(resolve => {
        release = resolve
      })
      const { repository } = await serving(async ({ url }, response) => {
        if (url === last) await others
        const headers = { 'x-github-request-id': '1', 'x-gitlab-meta': '{}' }
        response.writeHead(200, headers).end('{"version":"1.24.0"}')
        answered++
        if (answered === asking.length - 1) setImmediate(release)
      })
      expect((await findForge(repository, {}, {}, never))?.kind).toBe(asking[0]!.kind)
    },
  )

  test('findForge finds no forge when the server does not answer', async () => {
    const { repository, asked } = await serving(() => {})
    expect(await findForge(repository, {}, {}, never, 200)).toBeUndefined()
    expect(asked).toHaveLength(asking.length)
  })

  test('findForge ends when its signal is aborted', async () => {
    const end = new AbortController()
    const { repository } = await serving(() => end.abort(new Error('enough')))
    await expect(findForge(repository, {}, {}, end.signal)).rejects.toThrow('enough')
  })

  test('findForge does not ask a server whose kind is known', async () => {
    const { repository, asked, port } = await serving(() => {})
    expect((await findForge(repository, {}, { forge: 'gitlab' }, never))?.kind).toBe('gitlab')
    expect((await findForge(repository, { GITEA_SERVER_URL: `http://127.0.0.1:${port}` }, {}, never))?.kind).toBe(
      'gitea',
    )
    expect(asked).toEqual([])
  })

  test('findForge finds no forge for a folder', async () => {
    expect(await findForge('/srv/git/deploy', {}, {}, never)).toBeUndefined()
  })
})
