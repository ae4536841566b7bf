import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FORGES } from '../../../adapters/forge/forges.ts'
import type { Webhook } from '../../../platform/api/hooks.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { lacks } from '../../support/lacks.ts'
import { type GiteaPerson, giteaApi, HAS_GITEA } from '../../support/platform/gitea.ts'
import { RUN } from '../../support/platform/run-name.ts'
import type { Installation, Repository } from './installation.ts'

// These tests follow a pull request from an outside contributor's fork, from the webhook of its push to the page of
// its preview, and to its end.

const OWNER = `fay-${RUN}`
const PREFIX = `fork-${RUN}-`
const CANARY = `canary-${RUN}-0123456789`
const BASE = 'registry.devctl.localhost/library/busybox:1.37'
const FILES = {
  'compose.yaml': `name: shop
services:
  web:
    build: .
    user: "65534:65534"
    environment: {CANARY: "\${CANARY:-nothing}"}
    ports: ["8080:8080"]
    healthcheck: {http: {path: /, port: 8080}, interval: 1s, retries: 100}
`,
  Dockerfile: `FROM ${BASE}\nCOPY index.html /www/\nCMD ["httpd", "-f", "-p", "8080", "-h", "/www"]\n`,
  'index.html': `main of ${RUN}\n`,
}

export const forks = (installed: () => Installation) =>
  describe.skipIf(lacks('a Gitea', !HAS_GITEA))('a pull request of a fork', () => {
    const stranger: GiteaPerson = { name: `stranger-${RUN}`, password: `secret-${RUN}-0123` }
    let shop: Repository
    let relay: Server
    let number = 0
    let commit = ''

    beforeAll(async () => {
      const email = `${stranger.name}@example.com`
      await giteaApi('POST', '/admin/users', {
        ...{ username: stranger.name, password: stranger.password, email, must_change_password: false },
      })
      shop = await installed().repository(`forked-${RUN}`, FILES)
      const { origin } = new URL(shop.html_url)
      await installed().upgrade(`--forge gitea=${origin}`)
      await installed().person(OWNER)
      await installed().ok(OWNER, `variables set --user CANARY=${CANARY}`)
      const line = `preview hook add ${shop.html_url} --prefix ${PREFIX}`
      const added = await installed().pipe(OWNER, line.split(' '), process.env.FORGE_TOKEN ?? '')
      const said = (name: string) => new RegExp(`^ +${name} +(\\S+)$`, 'm').exec(added)?.[1] ?? ''
      relay = await relayTo(installed(), said('URL'))
      const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`
      await installed().ask('POST', `/repos/${shop.full_name}/hooks`, {
        ...{ type: 'gitea', active: true, events: ['pull_request', 'pull_request_sync'] },
        config: { url, content_type: 'json', secret: said('Secret') },
      })
      expect(added).toContain(FORGES.gitea.webhookEvents)
      const fork = `${stranger.name}/forked-${RUN}`
      await giteaApi('POST', `/repos/${shop.full_name}/forks`, {}, stranger)
      const at = `/repos/${fork}/contents/index.html`
      const { sha } = await giteaApi<{ sha: string }>('GET', at, undefined, stranger)
      const content = Buffer.from(`fork of ${RUN}\n`).toString('base64')
      await giteaApi('PUT', at, { branch: 'main', message: 'Greet', content, sha }, stranger)
      const wanted = { head: `${stranger.name}:main`, base: 'main', title: 'Greet' }
      const pull = await giteaApi<{ number: number; head: { sha: string } }>(
        'POST',
        `/repos/${shop.full_name}/pulls`,
        wanted,
        stranger,
      )
      number = pull.number
      commit = pull.head.sha
    })
    afterAll(async () => {
      relay?.close()
      await installed().start(OWNER, `preview hook remove ${PREFIX}`).status
      if (shop) await installed().ask('DELETE', `/repos/${shop.full_name}`)
      await giteaApi('DELETE', `/admin/users/${stranger.name}?purge=true`)
    })

    const preview = () => `${PREFIX}pr-${number}`
    const page = () => installed().fetch(`https://web-${preview()}.devctl.localhost/`)
    /** Waits until the state of the pull request in the webhook meets the condition, and returns it. */
    const known = (what: string, is: (pull: Webhook['pulls'][number] | undefined) => boolean) =>
      eventually(
        what,
        async () => {
          const hooks = JSON.parse(await installed().ok(OWNER, 'preview hook list --output json')) as readonly Webhook[]
          const pull = hooks.find(({ prefix }) => prefix === PREFIX)?.pulls.find(one => one.number === number)
          return is(pull) ? { pull } : undefined
        },
        { seconds: 360 },
      )
    const comment = (text: string) =>
      eventually(
        `the comment says ${text}`,
        async () => {
          const all = await installed().ask<readonly { body: string }[]>(
            'GET',
            `/repos/${shop.full_name}/issues/${number}/comments`,
          )
          expect(all.length).toBeLessThan(2)
          return all[0]?.body.includes(text) ? true : undefined
        },
        { seconds: 360 },
      )

    test('a pull request waits for approval of its commit, and fails without a builder for forks', async () => {
      await known('it waits', pull => pull?.isWaiting === true && pull.commit === commit)
      await comment(`devctl preview approve ${preview()} --commit ${commit}`)
      await installed().ok(OWNER, `preview approve ${preview()} --commit ${commit}`)
      await comment('failed')
      expect((await page()).status).not.toBe(200)
    })

    test('an approved pull request is built on a builder for forks and gets no variables', async () => {
      await installed().upgrade('--untrusted-builders 1')
      await installed().ok(OWNER, `preview approve ${preview()} --commit ${commit}`)
      const { body } = await eventually(
        'the page answers',
        async () => {
          const found = await page()
          return found.status === 200 ? found : undefined
        },
        { seconds: 360 },
      )
      expect(body).toBe(`fork of ${RUN}\n`)
      await comment(`https://web-${preview()}.devctl.localhost`)
      const [pod] = await podsOf(preview())
      expect(pod!.spec.containers[0]!.env).toContainEqual({ name: 'CANARY', value: 'nothing' })
      const namespace = await installed().cluster.kubectl('get', `namespace/${preview()}`, '--output=json')
      expect(namespace).toContain('"pod-security.kubernetes.io/enforce": "restricted"')
    })

    test('a preview is destroyed when its pull request is closed', async () => {
      await installed().ask('PATCH', `/repos/${shop.full_name}/pulls/${number}`, { state: 'closed' })
      await eventually(
        'the namespace is gone',
        async () => {
          const { status } = await installed().cluster.send('GET', `/api/v1/namespaces/${preview()}`)
          return status === 404 ? true : undefined
        },
        { seconds: 360 },
      )
      await comment('destroyed')
    })

    const podsOf = async (namespace: string): Promise<readonly PodObject[]> => {
      const text = await installed().cluster.kubectl(`--namespace=${namespace}`, 'get', 'pods', '--output=json')
      return JSON.parse(text).items
    }
  })

/** Starts a relay for the requests of the forge, which cannot find the platform by its name. */
async function relayTo(installed: Installation, address: string): Promise<Server> {
  const relay = createServer(async (request, response) => {
    const { host: _, ...headers } = request.headers as Readonly<Record<string, string>>
    const body = await text(request)
    const { status } = await installed.fetch(address, { method: 'POST', headers, body })
    response.writeHead(status || 502).end()
  })
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
  return relay
}

interface PodObject {
  readonly spec: { readonly containers: readonly { readonly env?: readonly object[] }[] }
}
