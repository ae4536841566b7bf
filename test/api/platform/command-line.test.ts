import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { main } from '../../../cli/main.ts'
import type { PromptAnswer } from '../../../cli/terminal/io.ts'
import { type LoginInput, login } from '../../../platform/session/login.ts'
import { Secret } from '../../../project/contexts/secret.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests `devctl` with a platform as its context, from the login to a deploy, by a user without a kubeconfig.

const COMPOSE = `services:
  web: {image: "nginx:1.27-alpine", environment: {GREETING: hello}, ports: ["80"]}
`

describe.skipIf(!process.env.KUBECONFIG)('a platform as context', () => {
  let platform: TestPlatform
  let ann: Person
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-platform-'))
  const stored = join(folder, 'home/contexts.json')

  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann')
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    writeFileSync(join(folder, 'compose.yaml'), COMPOSE)
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  const devctl = (line: string, env: Readonly<Record<string, string>> = {}) =>
    run(line.split(' '), {
      cwd: folder,
      env: { HOME: folder, DEVCTL_HOME: join(folder, 'home'), PATH: process.env.PATH!, ...env },
    })

  test('deploy without a login fails, and suggests the command that logs in', async () => {
    expect(await devctl(`deploy --context ${url}`)).toEqual({
      status: 1,
      stdout: '',
      stderr: `error: you are not logged in to \`${url}\`\n  = help: \`devctl context use ${url}\` logs in; programs set \`DEVCTL_URL\` and \`DEVCTL_TOKEN\`\n`,
    })
  })

  test('context use refuses a wrong token', async () => {
    const { status, stderr } = await devctl(`context use ${url} --token devctl_api_wrong`)
    expect([status, stderr]).toEqual([
      1,
      `error: the platform does not accept the token of \`--token\`: it is wrong, expired or deleted\n  = note: according to the platform ${new URL(url).host}; \`devctl explain platform/login\` tells more\n  = help: create another one at ${url}/you/tokens\n`,
    ])
  })

  test('context use logs in, and selects the home namespace', async () => {
    expect(await devctl(`context use ${url} --token ${ann.token}`)).toEqual({
      status: 0,
      stdout: `Using context ${ann.home} @ ${new URL(url).host}\n`,
      stderr: `Logged in as ann-${RUN}\n`,
    })
    expect(statSync(stored).mode & 0o777).toBe(0o600)
    const { stdout } = await devctl('context show')
    expect(JSON.parse(stdout)).toMatchObject({ name: url, token: '***', namespace: ann.home, isPlatform: true })
  })

  test('deploy works after the login, and requests no other Kubernetes token the second time', async () => {
    const first = await devctl('deploy --name shop')
    expect(first.status, first.stderr).toBe(0)
    const live = await platform.cluster.get({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      namespace: ann.home,
    })
    expect(live?.metadata.managedFields?.some(({ manager }) => manager === 'devctl')).toBe(true)
    const { kubeToken } = JSON.parse(readFileSync(stored, 'utf8')).contexts[url]
    const again = await devctl('deploy --name shop')
    expect(again.status, again.stderr).toBe(0)
    expect(JSON.parse(readFileSync(stored, 'utf8')).contexts[url].kubeToken).toEqual(kubeToken)
  })

  test('namespace create selects it, list shows it, and delete selects the home namespace again', async () => {
    const name = `shop-${RUN}`
    expect(await devctl(`namespace create ${name}`)).toMatchObject({
      status: 0,
      stdout: `Using context ${name} @ ${new URL(url).host}\n`,
    })
    const { stdout } = await devctl('namespace list')
    const rows = stdout.split('\n').map(line => line.trim().split(/ {2,}/))
    expect(rows).toContainEqual([`${name} *`, 'Active'])
    expect(rows).toContainEqual([ann.home, 'Active'])
    const records = JSON.parse((await devctl('namespace list --output json')).stdout)
    expect(records).toContainEqual(expect.objectContaining({ name, status: 'Active', role: 'owner', current: true }))
    expect(records).toContainEqual(expect.objectContaining({ name: ann.home, kind: 'personal', current: false }))
    expect((await devctl('deploy --name shop')).status).toBe(0)
    expect(await devctl(`namespace delete ${name}`)).toMatchObject({
      status: 0,
      stdout: `Deleting namespace ${name}\nUsing context ${ann.home} @ ${new URL(url).host}\n`,
    })
    expect((await devctl('namespace create kube-system')).stderr).toContain(
      'cannot be called `kube-system`: it is reserved',
    )
  })

  test('destroy succeeds in a namespace that does not exist, as a member sees it', async () => {
    const name = `gone-${RUN}`
    const { status, stderr } = await devctl(`destroy --name shop --namespace ${name} --volumes --wait`)
    expect(stderr).toBe(
      `namespace ${name} does not exist, or you are not a member of it: nothing to destroy for shop\n`,
    )
    expect(status).toBe(0)
  })

  test('deploy wakes a namespace that sleeps; otherwise it requests only variables', async () => {
    const replicas = async () =>
      (
        (await platform.cluster.get({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: ann.home }))?.[
          'spec'
        ] as { replicas?: number } | undefined
      )?.replicas // a Deployment's
    expect(await devctl('namespace sleep')).toEqual({
      status: 0,
      stdout: `Namespace ${ann.home} is asleep\n`,
      stderr: '',
    })
    expect(await replicas()).toBe(0)
    const deploy = await devctl('deploy --name shop')
    expect(deploy.status, deploy.stderr).toBe(0)
    expect(deploy.stderr).toContain(`namespace ${ann.home} sleeps; waking it`)
    expect(await replicas()).toBe(1)
    await platform.parts.sleep.settled()
    expect((await devctl('namespace wake')).stdout).toBe(`Namespace ${ann.home} is awake\n`)
    const before = platform.requests
    expect((await devctl('deploy --name shop')).status).toBe(0)
    expect(platform.requests).toBe(before + 1)
  })

  test('namespace share adds another user by their login, and transfers the namespace', async () => {
    const name = `both-${RUN}`
    const cleo = await platform.person('cleo')
    expect((await devctl(`namespace create ${name}`)).status).toBe(0)
    expect(await devctl(`namespace share ${name} cleo-${RUN} --role viewer`)).toEqual({
      status: 0,
      stdout: `Shared namespace ${name} with cleo-${RUN} (viewer)\n`,
      stderr: '',
    })
    const seen = () => platform.call('GET /namespaces/:ns', { token: cleo.token, params: { ns: name } })
    expect((await seen()).body).toMatchObject({ role: 'viewer' })
    // A namespace has one owner, whom only administrators change.
    const give = (env = {}) => devctl(`namespace share ${name} cleo-${RUN} --role owner`, env)
    expect((await give()).stderr).toContain('only an administrator may transfer a namespace')
    const root = await platform.person('root', 'admin')
    const asRoot = { DEVCTL_HOME: join(folder, 'root'), DEVCTL_URL: url, DEVCTL_TOKEN: root.token }
    expect((await give(asRoot)).stdout).toBe(`cleo-${RUN} is now the owner of namespace ${name}\n`)
    const { members, owner } = (await seen()).body
    expect(owner.id).toBe(cleo.id)
    const roles = Object.fromEntries(members.map(one => [one.user.id, one.role]))
    expect(members).toHaveLength(2)
    expect(roles).toEqual({ [cleo.id]: 'owner', [ann.id]: 'developer' })
    const body = { owner: ann.id }
    await platform.call('PATCH /namespaces/:ns', { token: root.token, params: { ns: name }, body })
    expect((await devctl(`namespace share ${name} cloe-${RUN}`)).stderr).toContain(`did you mean \`cleo-${RUN}\``)
    expect((await devctl(`namespace unshare ${name} cleo-${RUN}`)).stdout).toContain('no longer shared')
    expect((await seen()).status).toBe(404)
    expect((await devctl(`namespace use none-${RUN}`)).stderr).toContain(
      'does not exist, or you are not a member of it',
    )
    expect((await devctl(`namespace use ${ann.home}`)).stdout).toBe(
      `Using context ${ann.home} @ ${new URL(url).host}\n`,
    )
  })

  test('a user neither sees nor changes namespaces of other users', async () => {
    const bob = await platform.person('bob')
    const other = await devctl(`deploy --name shop --namespace ${bob.home}`)
    expect([other.status, other.stderr]).toEqual([
      1,
      expect.stringContaining('does not exist, or you are not a member of it'),
    ])
    expect((await devctl(`namespace delete ${bob.home}`)).stderr).toContain(
      'does not exist, or you are not a member of it',
    )
    expect((await devctl('namespace list')).stdout).not.toContain(bob.home)
  })

  test('DEVCTL_URL and DEVCTL_TOKEN give a program access, for that platform only', async () => {
    const env = {
      DEVCTL_HOME: join(folder, 'other'),
      DEVCTL_URL: url,
      DEVCTL_TOKEN: ann.token,
      DEVCTL_NAMESPACE: ann.home,
    }
    const { status, stderr } = await devctl('deploy --name shop', env)
    expect(status, stderr).toBe(0)
    expect((await devctl(`deploy --context https://other.example.com`, env)).stderr).toContain('you are not logged in')
  })

  test('context use logs in by a code that the user types in a browser', async () => {
    const env = { DEVCTL_HOME: join(folder, 'third') }
    const before = platform.lastCode()
    const login = devctl(`context use ${url}`, env)
    const code = await eventually('a code', async () => {
      const last = platform.lastCode()
      return last === before ? undefined : last
    })
    const body = { code, isAllowed: true }
    expect((await platform.call('POST /auth/device/answer', { token: ann.token, body })).status).toBe(204)
    const { status, stderr } = await login
    expect(status, stderr).toBe(0)
    expect(stderr).toBe(
      `To log in, open https://platform.dev.example.com/device in a browser and enter the code ${code}\nLogged in as ann-${RUN}\n`,
    )
  })

  describe('a login in the browser of this machine', () => {
    /**
     * Does what the page of the platform does when the user presses the button: gets a code, and sends it to the
     * command line.
     */
    const press = async (page: string, token: string) => {
      const { port, state = '', challenge, label } = Object.fromEntries(new URL(page).searchParams)
      const { body } = await platform.call('POST /auth/cli/code', { token, body: { challenge, label } })
      await fetch(`http://127.0.0.1:${port}/?${new URLSearchParams({ code: body.code, state })}`)
    }
    const input = (more: Partial<LoginInput>): LoginInput => ({
      url,
      fields: {},
      signal: AbortSignal.timeout(60_000),
      onPage: () => {},
      onCode: () => {},
      ...more,
    })
    const around = { cwd: folder, env: { HOME: folder, DEVCTL_HOME: join(folder, 'fourth') } }

    test('a login succeeds when the user presses the button', async () => {
      let page = ''
      const open = async (address: string) => {
        page = address
        return true
      }
      const { me } = await login(around, input({ open, onPage: () => void press(page, ann.token) }))
      expect(me.id).toBe(ann.id)
      expect(new URL(page).origin).toBe(url)
      const tokens = await platform.call('GET /me/tokens', { token: ann.token })
      expect(tokens.body.items.filter(({ kind }) => kind === 'cli').length).toBeGreaterThan(1)
    })

    test('a login shows a code if no browser can be opened', async () => {
      const end = new AbortController()
      const codes: string[] = []
      const onCode: LoginInput['onCode'] = ({ code }) => {
        codes.push(code)
        end.abort(new Error('enough'))
      }
      const signal = AbortSignal.any([end.signal, AbortSignal.timeout(60_000)])
      await expect(login(around, input({ open: async () => false, onCode, signal }))).rejects.toThrow('enough')
      expect(codes).toEqual([expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/)])
    })

    test('the port of a login is closed when the wait for the browser ends', async () => {
      const end = new AbortController()
      let page = ''
      const open = async (address: string) => {
        page = address
        return true
      }
      const waiting = login(around, input({ open, onPage: () => end.abort(new Error('enough')), signal: end.signal }))
      await expect(waiting).rejects.toThrow('enough')
      await expect(fetch(`http://127.0.0.1:${new URL(page).searchParams.get('port')}/`)).rejects.toThrow()
    })

    test('a login reuses a valid token, and opens the browser after the token has ended', async () => {
      const { text, record } = await platform.parts.tokens.issue({ kind: 'cli', label: 'old', user: ann.id })
      const opened: string[] = []
      const open = async (page: string) => {
        opened.push(page)
        void press(page, ann.token)
        return true
      }
      await login(around, input({ open, known: new Secret(text) }))
      expect(opened).toEqual([])
      await platform.parts.tokens.revoke(record.id)
      await login(around, input({ open, known: new Secret(text) }))
      expect(opened).toHaveLength(1)
    })
  })

  describe('commands on a terminal', () => {
    const home = join(folder, 'sixth')
    /** Runs a command line as a user who chooses the last answer and types `typed`. */
    async function asked(line: string, typed: string | undefined) {
      let [stdout, stderr] = ['', '']
      let last: PromptAnswer | undefined
      const status = await main(line.split(' '), {
        stdout: { isTTY: true, write: text => (stdout += text) },
        stderr: { isTTY: true, write: text => (stderr += text) },
        readStdin: async () => new Uint8Array(),
        env: { HOME: folder, DEVCTL_HOME: home, PATH: process.env.PATH! },
        cwd: folder,
        choose: async (_, answers) => {
          last = answers.at(-1)
          return last?.value
        },
        ask: async () => typed,
      })
      return { status, stdout, stderr, label: last?.label }
    }

    test('context logs in to a platform whose address is typed', async () => {
      expect(await asked(`context --token ${ann.token}`, url)).toEqual({
        status: 0,
        stdout: `Using context ${ann.home} @ ${new URL(url).host}\n`,
        stderr: `Logged in as ann-${RUN}\n`,
        label: 'a platform, by its address',
      })
    })

    test('namespace creates a namespace whose name is typed', async () => {
      const name = `typed-${RUN}`
      expect(await asked('namespace', name)).toEqual({
        status: 0,
        stdout: `Using context ${name} @ ${new URL(url).host}\n`,
        stderr: '',
        label: 'a new namespace',
      })
      const { body } = await platform.call('GET /namespaces/:ns', { token: ann.token, params: { ns: name } })
      expect(body).toMatchObject({ name, role: 'owner' })
      // The namespace is the current one now, and its name is taken.
      expect(await asked('namespace', name)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`namespace \`${name}\` is taken`),
      })
      expect(await asked('namespace', 'Not_A_Name')).toMatchObject({ status: 2, stdout: '' })
      expect(await asked('namespace', undefined)).toMatchObject({ status: 130, stdout: '', stderr: '' })
    })
  })

  describe('context delete', () => {
    const env = { DEVCTL_HOME: join(folder, 'fifth') }
    /** Adds a context with a token of this kind. */
    async function entered(kind: 'cli' | 'api') {
      const { text: token } = await platform.parts.tokens.issue({ kind, label: kind, user: ann.id, lifetime: 60_000 })
      expect(await devctl(`context use ${url} --token ${token}`, env)).toMatchObject({ status: 0 })
      return { token, status: async () => (await platform.call('GET /me', { token })).status }
    }

    test('context delete ends the login', async () => {
      const login = await entered('cli')
      expect(await login.status()).toBe(200)
      const gone = { status: 0, stdout: `Deleted context ${url}\n`, stderr: '' }
      expect(await devctl(`context delete ${url}`, env)).toEqual(gone)
      expect(await login.status()).toBe(401)
    })

    test('context delete reports nothing about a login that has already ended', async () => {
      const { token } = await entered('cli')
      expect((await platform.call('POST /auth/logout', { token })).status).toBe(204)
      const gone = { status: 0, stdout: `Deleted context ${url}\n`, stderr: '' }
      expect(await devctl(`context delete ${url}`, env)).toEqual(gone)
    })

    test('context delete keeps a token for programs, and reports it', async () => {
      const login = await entered('api')
      expect(await devctl(`context delete ${url}`, env)).toEqual({
        status: 0,
        stdout: `Deleted context ${url}\n`,
        stderr: `the token for programs stays valid; to delete it, open ${url}/you/tokens\n`,
      })
      expect(await login.status()).toBe(200)
    })
  })

  test('context use refuses an address without encryption', async () => {
    expect((await devctl('context use http://platform.example.com --token x')).stderr).toBe(
      'error: `http://platform.example.com` is not encrypted\n  = help: write `https://platform.example.com`\n',
    )
  })

  test('context use reports a server that is no platform, and one that does not respond', async () => {
    const server = await platform.other()
    expect((await devctl(`context use ${server} --token x`)).stderr).toContain('is not a devctl platform')
    expect((await devctl('context use http://127.0.0.1:9 --token x')).stderr).toContain('does not answer')
  })
})
