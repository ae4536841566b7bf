import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ClusterError } from '../../../../adapters/kubernetes/cluster.ts'
import { type SessionOptions, withCluster } from '../../../../cli/run/cluster-session.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { saveContext } from '../../../../project/contexts/store.ts'
import type { Session } from '../../../../project/session.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { kubeconfigWith } from '../../../support/contexts/kubeconfig.ts'
import { Answer, fakeServer } from '../../../support/kubernetes/fake-server.ts'

const none: SessionOptions = { context: undefined, namespace: undefined, timeout: undefined }

const CONFIGURATIONS = ['Mutating', 'Validating'].map(one => ({
  name: `${one.toLowerCase()}webhookconfigurations`,
  kind: `${one}WebhookConfiguration`,
  namespaced: false,
}))

/**
 * Returns the namespace and cluster of the session that the work gets, or the error that is thrown; nothing is sent to
 * a cluster unless the work sends it.
 */
async function session(
  options: Partial<SessionOptions> = {},
  { env = {}, cwd = makeFolder({ config: kubeconfigWith({ kind: 'shop', prod: undefined }) }) } = {},
  work: (session: Session) => Promise<number> = async () => 0,
): Promise<unknown> {
  const output = { isTTY: false, write: () => {} }
  const io = { stdout: output, stderr: output, readStdin: async () => new Uint8Array(), cwd }
  let got: Session | undefined
  try {
    await withCluster(
      { ...io, env: { KUBECONFIG: join(cwd, 'config'), DEVCTL_HOME: join(cwd, 'home'), ...env } },
      { ...none, ...options },
      async session => {
        got = session
        return work(session)
      },
    )
    return got && `${got.namespace} @ ${got.cluster.name}`
  } catch (error) {
    return error
  }
}

describe('a session with a cluster', () => {
  test('a session uses the target that was chosen', async () => {
    const cwd = makeFolder({ config: kubeconfigWith({ kind: 'shop', prod: undefined }) })
    expect(await session({}, { cwd })).toBe('shop @ kind')
    await saveContext(join(cwd, 'home'), { name: 'prod', namespace: 'web' }, true)
    expect(await session({}, { cwd })).toBe('web @ prod')
    expect(await session({ manifest: { context: 'kind' } }, { cwd })).toBe('shop @ kind')
    const env = { DEVCTL_CONTEXT: 'prod', DEVCTL_NAMESPACE: 'of-env' }
    expect(await session({ manifest: { context: 'kind', namespace: 'of-manifest' } }, { cwd, env })).toBe(
      'of-env @ prod',
    )
    expect(await session({ context: 'kind', namespace: 'mine' }, { cwd, env })).toBe('mine @ kind')
  })

  test('a session does not begin with an invalid namespace', async () => {
    expect(await session({}, { env: { DEVCTL_NAMESPACE: 'Shop' } })).toMatchObject({
      message: '`DEVCTL_NAMESPACE` is `Shop`, which is not a valid DNS label',
    })
  })

  const forbidden = (resource: string) =>
    new ClusterError('forbidden', `User "ann" cannot patch resource "${resource}"`)
  const failing = (error: unknown) => session({}, {}, () => Promise.reject(error))

  test('several refused calls are reported once', async () => {
    const error = await failing(new AggregateError([forbidden('services'), forbidden('services')]))
    expect(error).toBeInstanceOf(UserError)
    expect(error).toMatchObject({
      message: 'User "ann" cannot patch resource "services"',
      hint: 'ask for the role `edit` in the namespace, or use a context that has it',
      notes: [],
    })
    expect(await failing(new AggregateError([forbidden('a'), forbidden('b'), forbidden('a')]))).toMatchObject({
      message: 'User "ann" cannot patch resource "a"',
      notes: ['User "ann" cannot patch resource "b"'],
    })
  })

  test('the error names the context if the cluster is unreachable or refuses the login', async () => {
    expect(await failing(new ClusterError('unreachable', 'nothing listens at `x`'))).toMatchObject({
      message: 'nothing listens at `x`',
      notes: ['context `kind`, chosen by the current context of the kubeconfig'],
      hint: 'is the cluster running, and is the context the right one?',
    })
    expect(await failing(new ClusterError('unauthorized', 'refused'))).toMatchObject({
      hint: 'log in again, or choose another context with `--context`',
    })
  })

  test('a bug of devctl is thrown unchanged', async () => {
    const bug = new AggregateError([new TypeError('a bug'), forbidden('a')])
    expect(await failing(bug)).toBe(bug)
  })

  test('a session ends at its deadline', async () => {
    const error = await session({ timeout: 1 }, {}, ({ signal }) => {
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    expect(error).toMatchObject({ message: 'not done within 0.0 s' })
  })

  test.concurrent.for([
    [
      'failed calling webhook "check.example.com": context deadline exceeded',
      [
        'the admission webhook `check.example.com` does not answer, so the cluster refused `configmaps/page`',
        'context deadline exceeded',
      ],
      'its operators must fix it',
    ],
    [
      'etcdserver: leader changed',
      ['`PATCH` of `configmaps/page` was retried: etcdserver: leader changed'],
      '--timeout',
    ],
  ] as const)('a session reports at its deadline what it was trying again: %s', async (row, { onTestFinished }) => {
    const [message, notes, hint] = row
    let failures = 0
    const server = await fakeServer(() => {
      // It fails once, and hangs after that.
      if (failures++ > 0) return new Promise(() => {})
      return new Answer(500, { kind: 'Status', code: 500, reason: 'InternalError', message })
    })
    onTestFinished(() => server.close())
    const kubeconfig = kubeconfigWith({ kind: 'shop' }).replace('https://127.0.0.1:1', server.access.server.origin)
    const cwd = makeFolder({ config: kubeconfig })
    const error = await session({ timeout: 1000 }, { cwd }, async ({ cluster, signal }) => {
      const metadata = { name: 'page', namespace: 'shop' }
      await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, { manager: 'devctl', signal })
      return 0
    })
    expect(error).toMatchObject({ message: 'not done within 1.0 s', notes })
    expect((error as UserError).hint).toContain(hint)
  })

  test.concurrent.for([
    [
      'and which webhooks are asked about it',
      [
        {
          name: 'slow.example.com',
          timeoutSeconds: 30,
          rules: [{ apiGroups: ['*'], operations: ['*'], resources: ['*'] }],
        },
      ],
      ['the API server first calls the admission webhook `slow.example.com` (timeout 30 s)'],
      'check the server of the webhook',
    ],
    ['which may be a webhook', [], [], 'an admission webhook may not be responding'],
  ] as const)('a session reports at its deadline what has no answer, %s', async (row, { onTestFinished }) => {
    const [, webhooks, more, hint] = row
    const server = await fakeServer(({ method, path }) => {
      if (method === 'PATCH') return new Promise(() => {})
      if (path.endsWith('/namespaces/shop')) return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
      if (path.endsWith('.k8s.io/v1')) return { resources: CONFIGURATIONS }
      if (!path.endsWith('webhookconfigurations')) return undefined
      const items = path.includes('validating') ? [{ metadata: { name: 'slow' }, webhooks }] : []
      return { kind: 'List', metadata: {}, items }
    })
    onTestFinished(() => server.close())
    const kubeconfig = kubeconfigWith({ kind: 'shop' }).replace('https://127.0.0.1:1', server.access.server.origin)
    const cwd = makeFolder({ config: kubeconfig })
    const error = await session({ timeout: 4000 }, { cwd }, async ({ cluster, signal }) => {
      const metadata = { name: 'page', namespace: 'shop' }
      await cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: 'shop' }, { signal })
      await cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata }, { manager: 'devctl', signal })
      return 0
    })
    expect(error).toMatchObject({
      message: 'not done within 4.0 s',
      notes: [expect.stringMatching(/^`PATCH` of `configmaps\/page` has had no answer for [234]\.\d s$/), ...more],
    })
    expect((error as UserError).hint).toContain(hint)
  })
})
