import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request as the stub has it; numbers of repositories and people. */
export interface StubPull {
  state: 'open' | 'closed'
  sha: string
  branch: string
  title?: string
  author: { readonly id: number; readonly login: string }
  /** The repository of its branch: its number, path, and owner. */
  head: { readonly id: number; readonly path: string; readonly owner: number } | null
}

/** Stub of the API of Gitea (https://docs.gitea.com/api/), with one repository, number 3, `team/shop`. */
export interface StubForge {
  /** The root of its API. */
  readonly api: string
  readonly pulls: Map<number, StubPull>
  /** Tokens that it knows, and whether they may write. */
  readonly tokens: Map<string, boolean>
  /** People who may write, by number. */
  readonly writers: Set<number>
  /** Comments on its pull requests, in the order of their ids, which start at 1. */
  readonly comments: { readonly pull: number; body: string }[]
  /** Webhooks of its repository, by number. */
  readonly webhooks: Map<number, unknown>
  /** While set, it refuses to change them with this status. */
  refusesWebhooks: number | undefined
  /** Paths of the requests that it has received. */
  readonly asked: string[]
  /** While set, it answers with this status only. */
  broken: number | undefined
  /** While set, what happens between a question and its answer. */
  meanwhile: ((path: string) => Promise<void>) | undefined
  close(): void
}

export const REPOSITORY = 3
const WEB = 'https://git.example.com'

export async function openStubForge(): Promise<StubForge> {
  const forge: Omit<StubForge, 'api' | 'close'> = {
    pulls: new Map(),
    tokens: new Map(),
    writers: new Set(),
    comments: [],
    webhooks: new Map(),
    refusesWebhooks: undefined,
    asked: [],
    broken: undefined,
    meanwhile: undefined,
  }
  const answer = (path: string, token: string, method: string, body: string): readonly [number, unknown] => {
    if (forge.broken !== undefined) return [forge.broken, { message: 'broken' }]
    const mayWrite = forge.tokens.get(token)
    if (mayWrite === undefined) return [401, { message: 'invalid username, password or token' }]
    const [, of] = /^\/repos\/team\/shop\/issues\/(\d+)\/comments/.exec(path) ?? []
    if (of !== undefined && method === 'GET') return [200, []]
    if (of !== undefined)
      return [201, { id: forge.comments.push({ pull: Number(of), body: String(JSON.parse(body).body) }) }]
    const [, id] = /^\/repos\/team\/shop\/issues\/comments\/(\d+)$/.exec(path) ?? []
    const comment = id === undefined ? undefined : forge.comments[Number(id) - 1]
    if (comment) {
      comment.body = String(JSON.parse(body).body)
      return [200, { id: Number(id) }]
    }
    const [, webhook] = /^\/repos\/team\/shop\/hooks\/?(\d*)$/.exec(path) ?? []
    if (webhook !== undefined && forge.refusesWebhooks !== undefined) return [forge.refusesWebhooks, { message: 'no' }]
    if (webhook === '') {
      const id = forge.webhooks.size + 1
      forge.webhooks.set(id, JSON.parse(body))
      return [201, { id }]
    }
    if (webhook !== undefined) return [forge.webhooks.delete(Number(webhook)) ? 204 : 404, undefined]
    const [, number] = /^\/repos\/team\/shop\/pulls\/(\d+)$/.exec(path) ?? []
    const [, login] = /^\/repos\/team\/shop\/collaborators\/(\w+)\/permission$/.exec(path) ?? []
    if (path === '/repos/team/shop') return [200, { id: REPOSITORY, permissions: { push: mayWrite } }]
    const pull = number === undefined ? undefined : forge.pulls.get(Number(number))
    if (pull) return [200, toPull(Number(number), pull)]
    const author = [...forge.pulls.values()].find(one => one.author.login === login)?.author
    if (!author) return [404, { message: 'not found' }]
    return [200, { permission: forge.writers.has(author.id) ? 'write' : 'read', user: author }]
  }
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').replace(/^\/api\/v1/, '')
    forge.asked.push(path)
    const [status, body] = answer(
      path,
      (request.headers.authorization ?? '').replace(/^token /, ''),
      request.method ?? '',
      await text(request),
    )
    await forge.meanwhile?.(path)
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(body === undefined ? '' : JSON.stringify(body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens at a port
  return Object.assign(forge, {
    api: `http://127.0.0.1:${port}/api/v1`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  })
}

const toPull = (number: number, { state, sha, branch, title, author, head }: StubPull) => ({
  number,
  state,
  title: title ?? 'Login by e-mail',
  html_url: `${WEB}/team/shop/pulls/${number}`,
  user: author,
  head: {
    ref: branch,
    sha,
    repo: head && { id: head.id, clone_url: `${WEB}/${head.path}.git`, owner: { id: head.owner } },
  },
  base: { ref: 'main', repo: { id: REPOSITORY } },
})
