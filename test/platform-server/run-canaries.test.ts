import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PLATFORM_NAMESPACE, RUNS_NAMESPACE, USERS_NAMESPACE } from '../../platform/records/names.ts'
import { findBuildkit } from '../buildkit/buildkit.ts'
import { root } from '../cases.ts'
import { eventually, findCluster } from '../cluster/cluster.ts'
import { Program } from '../cluster/program.ts'
import { RUN } from './open-platform.ts'

// Two people have runs at the same time, whose code looks everywhere in its Pod: it finds what is its own, and nothing of anybody else.

/** A Gitea or Forgejo, a user's token with all rights, and what has signed its certificate. */
const { FORGE_ADDRESS: forge, FORGE_TOKEN: forgeToken, FORGE_CA: authority } = process.env
const found = findCluster()
const builder = found && findBuildkit()
const cluster = found !== undefined && builder !== undefined && (await found.hasNodes()) ? found : undefined

/** The node keeps images by name: an older one of this version may be there. */
const REGISTRY = `127.0.0.1:5000/devctl-${Date.now().toString(36)}`
const NAMESPACES = [PLATFORM_NAMESPACE, USERS_NAMESPACE, RUNS_NAMESPACE]
/** All that a program finds in its Pod: variables, processes, mounts, files that no image has. */
const LOOK = `{
  env
  cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/self/mountinfo
  find -L /run /tmp /source /etc /dev /var/run /home -type f -readable -size -256k -exec cat {} +
} 2>/dev/null | gzip | base64 -w 500 | sed 's/^/FOUND:/'
sleep 5
`
const MANIFEST = `deploy:
  commands:
    - name: Look
      command: sh look.sh
  compose: compose.yaml
`
const COMPOSE = `services: {web: {image: "redis:7-alpine", command: redis-server, restart: always}}
`

describe.skipIf(!cluster || !forge || !forgeToken || !authority)('a run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-canaries-'))
  const people = ['bob', 'eve'].map(name => ({
    login: `${name}-${RUN}`,
    own: `${name}-variable-${RUN}-0123456789-0123456789`,
    said: `${name}-option-${RUN}-0123456789-0123456789`,
  }))

  const envOf = (who: string) => ({
    DEVCTL_HOME: join(folder, who),
    BUILDKIT_HOST: builder!,
    NODE_EXTRA_CA_CERTS: join(dirname(process.env.KUBECONFIG!), 'pki/ca.crt'),
    ...(who !== 'operator' && { KUBECONFIG: join(folder, 'none') }),
  })
  const start = (who: string, line: string, cwd = folder) =>
    new Program(line.split(' '), {
      cwd,
      env: envOf(who),
    }).read()
  const ok = async (...words: Parameters<typeof start>) => {
    const program = start(...words)
    expect(await program.status, program.stderr + program.stdout).toBe(0)
    return program.stdout
  }
  const pasted = (stdout: string) => /^ {2}devctl (context use .*)$/m.exec(stdout)?.[1] ?? ''

  async function ask(method: string, path: string, body?: object): Promise<string> {
    const headers = { authorization: `token ${forgeToken}`, 'content-type': 'application/json' }
    const sent = request(new URL(`/api/v1${path}`, forge), {
      method,
      headers,
      ca: readFileSync(authority!),
      timeout: 20_000,
    })
    sent.end(body && JSON.stringify(body))
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    const said = await text(answer)
    if (answer.statusCode! >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${said}`)
    return said
  }
  let me: string
  const repository = `canaries-${RUN}`

  beforeAll(async () => {
    await start('operator', 'platform uninstall --yes').status
    await eventually('an earlier one is gone', 60, async () => {
      const names = await cluster!.kubectl('get', 'namespaces', '--output=name')
      return NAMESPACES.some(name => names.includes(name)) ? undefined : true
    })
    const images = [
      `build --file platform/images/platform.Dockerfile --tag ${REGISTRY}/platform:0.1.0 .`,
      `build --file platform/images/runner.Dockerfile --build-arg KUBECTL=127.0.0.1:5000/kubectl:v1.34.2 --tag ${REGISTRY}/runner:0.1.0 .`,
    ]
    for (const line of images) await ok('operator', line, root)
    await ok('operator', `platform install --domain devctl.localhost --image-registry ${REGISTRY}`)
    // As operators do whose forge is in the cluster, or behind its ingress.
    const { items } = await cluster!.get<{ items: readonly NodeObject[] }>('/api/v1/nodes')
    const ingress = items[0]!.status.addresses.find(({ type }) => type === 'InternalIP')!.address
    const { hostname, port } = new URL(forge!)
    // git takes all names below `localhost` for its own machine.
    const gitconfig = `[http]\n\tcurloptResolve = ${hostname}:${port || 443}:${ingress}\n`
    await cluster!.kubectl(
      ...['create', 'configmap', 'ca', '--namespace=devctl-runs'],
      ...[`--from-file=ca.crt=${authority}`, `--from-literal=gitconfig=${gitconfig}`],
    )
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'forge' },
      spec: {
        podSelector: {},
        policyTypes: ['Egress'],
        egress: [{ to: [{ ipBlock: { cidr: `${ingress}/32` } }], ports: [{ port: Number(port || 443) }] }],
      },
    }
    const path = '/apis/networking.k8s.io/v1/namespaces/devctl-runs/networkpolicies'
    expect((await cluster!.send('POST', path, policy)).status).toBe(201)

    me = JSON.parse(await ask('GET', '/user')).login
    await ask('POST', '/user/repos', { name: repository, private: true, auto_init: true, default_branch: 'main' })
    for (const [name, content] of Object.entries({ 'look.sh': LOOK, 'devctl.yml': MANIFEST, 'compose.yaml': COMPOSE }))
      await ask('POST', `/repos/${me}/${repository}/contents/${name}`, {
        message: name,
        content: Buffer.from(content).toString('base64'),
      })
    for (const { login, own } of people) {
      await ok(login, pasted(await ok('operator', `platform invite ${login}`)))
      await ok(login, `variables set --user CANARY=${own}`)
      await setCredential(login)
    }
  }, 300_000)
  afterAll(async () => {
    await start('operator', 'platform uninstall --yes').status
    await ask('DELETE', `/repos/${me}/${repository}`).catch(() => {})
    rmSync(folder, { recursive: true })
    cluster?.close()
  })

  test('finds what is its own, and no secret of the platform, of its clone, or of another run', async () => {
    const line = `pipeline deploy --repository ${forge}/${me}/${repository} --name canaries --wait`
    const runs = people.map(({ login, said }) => start(login, `${line} --var SAID=${said}`))
    const secrets = new Map<string, readonly string[]>()
    let isOver = false
    const watching = (async () => {
      while (!isOver) {
        for (const [name, values] of await secretValues()) secrets.set(name, values)
        await new Promise(resolve => setTimeout(resolve, 300))
      }
    })()
    const ended = Promise.all(runs.map(({ status }) => status)).finally(() => {
      isOver = true
    })
    const [states] = await Promise.all([ended, watching, refusedToMembers(people.map(({ login }) => login))])
    expect(states, runs.map(run => run.stderr + run.stdout.slice(-3000)).join('\n')).toEqual([0, 0])

    const values = [...secrets.values()].flat()
    expect(values.includes(forgeToken!) && people.every(({ said }) => values.includes(said)), 'they are known').toBe(
      true,
    )
    expect(secrets.get('devctl-platform/keys'), 'the key that seals').toHaveLength(1)
    for (const [at, { own, said }] of people.entries()) {
      const lines = [...`${runs[at]!.stdout}\n${runs[at]!.stderr}`.matchAll(/FOUND:([A-Za-z0-9+/=]+)/g)].map(
        ([, part]) => part,
      )
      const looked = gunzipSync(Buffer.from(lines.join(''), 'base64')).toString('latin1')
      expect(looked.includes(own) && looked.includes(said), 'it looks where something is').toBe(true)
      const ownValues = new Set([...secrets.values()].filter(values => values.includes(said)).flat())
      const foreign = [...secrets].flatMap(([name, values]) =>
        values.filter(value => !ownValues.has(value) && looked.includes(value)).map(() => name),
      )
      expect(foreign, 'Secrets with something that it has found').toEqual([])
      const other = people[1 - at]!
      expect([other.own, other.said].filter(value => looked.includes(value))).toEqual([])
      expect(looked, 'a token of Kubernetes that it did not ask the platform for').not.toContain(
        'kubernetes.io/serviceaccount',
      )
    }
  })

  /** Texts in the Secrets of the platform that nobody guesses, by `namespace/name`. */
  async function secretValues(): Promise<readonly (readonly [string, readonly string[]])[]> {
    const all = await Promise.all(
      NAMESPACES.map(namespace =>
        cluster!.get<{ items: readonly SecretObject[] }>(`/api/v1/namespaces/${namespace}/secrets`),
      ),
    )
    return all
      .flatMap(({ items }) => items)
      .map(({ metadata, data = {} }) => {
        const texts = Object.values(data).flatMap(value => leavesOf(Buffer.from(value, 'base64').toString('latin1')))
        return [`${metadata.namespace}/${metadata.name}`, texts.filter(isSecret)] as const
      })
  }

  /** Nobody but the platform gets into the Pods of runs, or at what is beside them. */
  async function refusedToMembers(logins: readonly string[]): Promise<void> {
    const pod = await eventually('a run has a Pod', 60, async () => {
      const names = await cluster!.kubectl('get', 'pods', '--namespace=devctl-runs', '--output=name')
      return names.split('\n').find(name => name !== '')
    })
    const { items } = await cluster!.get<{ items: readonly SecretObject[] }>(
      '/api/v1/namespaces/devctl-users/serviceaccounts',
    )
    for (const login of logins) {
      const account = items.find(({ metadata }) => Object.values(metadata.annotations ?? {}).includes(login))
      const as = [
        `--as=system:serviceaccount:devctl-users:${account!.metadata.name}`,
        ...['system:serviceaccounts', 'system:serviceaccounts:devctl-users', 'system:authenticated'].map(
          group => `--as-group=${group}`,
        ),
      ]
      for (const words of [
        ['exec', pod, '--', 'true'],
        ['attach', pod],
        ['logs', pod],
        ['debug', pod, '--image=busybox'],
        ['port-forward', pod, '8080'],
        ['get', 'pods'],
        ['get', 'secrets'],
        ['get', 'jobs'],
        ['create', 'token', 'default'],
        ['delete', pod],
      ]) {
        const said = await cluster!.kubectl('--namespace=devctl-runs', ...as, ...words).then(
          () => 'it was not refused',
          (error: Error) => error.message,
        )
        expect(said, words.join(' ')).toMatch(/forbidden/i)
      }
    }
  }

  /** Its password comes from the standard input. */
  async function setCredential(login: string): Promise<void> {
    const words = ['credentials', 'set', new URL(forge!).host, '--user']
    const env = { ...process.env, ...envOf(login) }
    const child = execFile(process.execPath, [join(root, 'bin/devctl.cjs'), ...words], { cwd: folder, env })
    child.stdin!.end(forgeToken)
    const [status] = await once(child, 'close')
    expect(status).toBe(0)
  }
})

interface NodeObject {
  readonly status: { readonly addresses: readonly { readonly type: string; readonly address: string }[] }
}

interface SecretObject {
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly annotations?: Record<string, string>
  }
  readonly data?: Readonly<Record<string, string>>
}

/** A text as long as tokens and keys are, and no address. */
const isSecret = (one: string): boolean => /^[\x20-\x7e]{32,}$/.test(one) && !one.includes('://')

/** The texts in a JSON value, or the text itself. */
function leavesOf(value: string): readonly string[] {
  try {
    const found: string[] = []
    JSON.parse(value, (_, one) => {
      if (typeof one === 'string') found.push(one)
      return one
    })
    return found
  } catch {
    return [value.trim()]
  }
}
