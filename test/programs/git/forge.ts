import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { type Env, git, tryGit } from '../../support/git/git.ts'
import { httpServer } from '../../support/git/http-server.ts'
import { bareRepository, commitDirectly, type GitServer } from '../../support/git/repository.ts'
import { withRepositoryAt } from './own-git.ts'

/** A pull request, as the server has it. */
export interface Pull {
  readonly number: number
  readonly head: string
  readonly base: string
  title: string
  body: string
  state: 'open' | 'closed'
  labels: readonly string[]
  reviewers: readonly string[]
  readonly comments: string[]
  /** Number of times its text was written. */
  edits: number
}

export interface Forge extends GitServer {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string
  readonly pulls: readonly Pull[]
  /** Makes git read and write the files of the repository in place of its http address. */
  readonly asFiles: Env
  /** Environment of a pipeline on this forge. */
  readonly withToken: Env
  readonly withoutToken: Env
  /** Returns the number of pushes that sent something, over http or not. */
  pushes(): number
  /** Does what the green button does: the request's files in one commit of the base, its branch left. */
  merge(pull: Pull): Promise<void>
}

export const FORGE_TOKEN = 'forge-token-0123456789'
const PATH = '/org/deploy'

/**
 * A server with one repository, `org/deploy`, and what Gitea's API has about pull requests; it lives until the test is
 * over.
 */
export async function forge(
  files: Readonly<Record<string, string>> = { 'README.md': 'deployments\n' },
): Promise<Forge> {
  const folder = join(makeFolder(), 'git')
  mkdirSync(folder)
  const bare = await bareRepository(folder, { files, hooks: { 'pre-receive': 'echo >>pushes\n' } })
  const backend = await httpServer(bare.repository)
  const pulls: Pull[] = []
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? '')
    const answered = url.startsWith('/api/v1/')
      ? answer(request, response, url.slice('/api/v1'.length), { pulls, repository: bare.repository })
      : forward(
          request,
          response,
          `${new URL(backend.address).origin}${request.url!.replace(`${PATH}.git`, '/repository.git')}`,
        )
    answered.catch(error => void response.writeHead(500).end(String(error)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens at a port
  const close = async () => {
    server.closeAllConnections()
    await Promise.all([new Promise(resolve => server.close(resolve)), backend.close()])
  }
  onTestFinished(close)
  return {
    address: `${origin}${PATH}.git`,
    repository: bare.repository,
    env: { GITEA_SERVER_URL: origin, GITEA_TOKEN: FORGE_TOKEN },
    origin,
    pulls,
    asFiles: withRepositoryAt(`${origin}${PATH}.git`, bare.address),
    withToken: { GITEA_SERVER_URL: origin, GITEA_TOKEN: FORGE_TOKEN },
    withoutToken: { GITEA_SERVER_URL: origin, GITEA_TOKEN: '' },
    pushes: () => {
      const file = join(bare.repository, 'pushes')
      return existsSync(file) ? readFileSync(file, 'utf8').length : 0
    },
    async merge(pull) {
      const changed = (
        await git(bare.repository, 'diff', '--name-status', '--no-renames', '-z', `${pull.base}...${pull.head}`)
      ).split('\0')
      const texts: Record<string, string> = {}
      for (let at = 0; at + 1 < changed.length; at += 2) {
        if (changed[at] === 'D') throw new Error('not needed here')
        texts[changed[at + 1]!] = `${await git(bare.repository, 'show', `${pull.head}:${changed[at + 1]}`)}\n`
      }
      await commitDirectly(bare.repository, texts, { branch: pull.base, message: pull.title })
      pull.state = 'closed'
    },
    close,
  }
}

async function forward(request: IncomingMessage, response: ServerResponse, address: string): Promise<void> {
  const onward = httpRequest(address, { method: request.method, headers: request.headers }, answer => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  request.pipe(onward)
}

interface State {
  readonly pulls: Pull[]
  readonly repository: string
}

/** https://docs.gitea.com/api/, as far as devctl asks. */
async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  url: string,
  { pulls, repository }: State,
): Promise<void> {
  const send = (status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (request.headers.authorization !== `token ${FORGE_TOKEN}`) return send(401, { message: 'token is required' })
  const hasBranch = async (name: string) =>
    (await tryGit(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${name}`])).status === 0
  // A forge closes a pull request whose branch is deleted.
  for (const pull of pulls) if (pull.state === 'open' && !(await hasBranch(pull.head))) pull.state = 'closed'
  const read = async () => (await json(request)) as Record<string, unknown>
  const root = '/repos/org/deploy'
  const [path = '', query = ''] = url.split('?')
  const number = Number(/\/(?:pulls|issues)\/(\d+)/.exec(path)?.[1])
  const pull = pulls.find(one => one.number === number)
  const verb = `${request.method} ${path.replace(root, '').replace(/\d+/, 'N')}`
  const page = Number(/page=(\d+)/.exec(query)?.[1] ?? 1)
  switch (verb) {
    case 'GET /pulls':
      return send(200, page > 1 ? [] : pulls.filter(({ state }) => state === 'open').map(one => show(one, request)))
    case 'GET /labels':
      return send(200, page > 1 ? [] : [{ id: 7, name: 'deploy' }])
    case 'POST /pulls': {
      const { head, base, title, body, labels = [] } = (await read()) as unknown as Pull // what is sent is looked at by the tests
      if (!(await hasBranch(head)) || !(await hasBranch(base))) return send(404, { message: 'no such branch' })
      // No other request interferes from here on.
      if (pulls.some(one => one.state === 'open' && one.head === head))
        return send(409, { message: 'pull request already exists for these targets' })
      const made: Pull = {
        number: pulls.length + 1,
        head,
        base,
        title,
        body,
        state: 'open',
        labels: labels.map(one => `${one}`),
        reviewers: [],
        comments: [],
        edits: 0,
      }
      pulls.push(made)
      return send(201, show(made, request))
    }
    case 'PATCH /pulls/N': {
      const fields = await read()
      if (!pull) return send(404, { message: 'not found' })
      Object.assign(pull, fields)
      if (fields['state'] === undefined) pull.edits++
      return send(201, show(pull, request))
    }
    case 'POST /pulls/N/requested_reviewers':
      pull!.reviewers = (await read())['reviewers'] as string[] // what is sent is looked at by the tests
      return send(201, [])
    case 'POST /issues/N/comments':
      pull!.comments.push(String((await read())['body']))
      return send(201, {})
    default:
      return send(404, { message: `nothing at ${verb}` })
  }
}

const show = ({ number, head, base, title, body, state }: Pull, request: IncomingMessage) => ({
  number,
  html_url: `http://${request.headers.host}${PATH}/pulls/${number}`,
  title,
  body,
  state,
  draft: false,
  head: { ref: head, repo_id: 1 },
  base: { ref: base, repo_id: 1 },
})
