import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Secret } from '../../../project/contexts/secret.ts'
import { saveContext } from '../../../project/contexts/store.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { Answer, type FakeServer, fakeServer } from '../../support/kubernetes/fake-server.ts'
import { run } from '../../support/run.ts'

// The tests are about the cluster that `devctl platform …` administers, and the errors for other clusters.

const URL = 'https://platform.dev.example.com'
const SETTINGS = '/api/v1/namespaces/devctl-platform/configmaps/settings'

describe('the cluster that is administered', () => {
  let server: FakeServer
  let settings: unknown
  beforeAll(async () => {
    server = await fakeServer(({ path }) => (path === SETTINGS ? (settings as object) : undefined))
  })
  afterAll(() => server.close())
  beforeEach(() => {
    settings = settingsOf(JSON.stringify({ url: URL }))
  })

  const settingsOf = (text: string) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'devctl-platform' } },
    data: { 'settings.json': text },
  })

  /** Runs `devctl platform invite`; its refusal says whether it has found the platform. */
  const invite = (options = '', kubeconfig = {}) =>
    platform(['invite', 'ann', ...options.split(' ').filter(Boolean)], kubeconfig)

  async function platform(
    words: readonly string[],
    { current = 'admin', extension = {} } = {},
    choose?: (question: string) => Promise<string | undefined>,
  ) {
    const user = { name: 'root', user: {} }
    const cluster = { name: 'one', cluster: { server: server.access.server.href } }
    const context = { name: 'admin', context: { cluster: 'one', user: 'root', ...extension } }
    const kubeconfig = { clusters: [cluster], users: [user], contexts: [context], 'current-context': current }
    const cwd = makeFolder({ config: JSON.stringify(kubeconfig) })
    const env = { KUBECONFIG: join(cwd, 'config'), DEVCTL_HOME: join(cwd, 'home') }
    await saveContext(env.DEVCTL_HOME, { name: URL, token: new Secret('devctl_cli_x') }, true)
    return run(['platform', ...words], { cwd, env, ...(choose && { choose }) })
  }

  test('the platform is not deleted if the user at the terminal says no', async () => {
    server.requests.length = 0
    const questions: string[] = []
    const declined = await platform(['uninstall', '--keep-data', '--context', 'admin'], {}, async question => {
      questions.push(question)
      return 'no'
    })
    expect(declined).toMatchObject({ status: 1, stderr: expect.stringContaining('nothing was deleted') })
    expect(questions).toEqual(['Delete the server of the platform with the context admin?'])
    expect(server.requests.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  test('a user who is logged in to the platform administers the cluster of the kubeconfig', async () => {
    server.requests.length = 0
    await invite()
    expect(server.requests.map(({ path }) => path)).toContain(SETTINGS)
  })

  test('a cluster without that platform is refused, unless the context is named', async () => {
    settings = settingsOf(JSON.stringify({ url: 'https://platform.other.example.com' }))
    expect((await invite()).stderr).toBe(
      `error: the current context is the platform \`${URL}\`, but the cluster of \`admin\` has the platform \`https://platform.other.example.com\`\n  = help: add \`--context admin\` if you mean this cluster\n`,
    )
    settings = undefined
    expect((await invite()).stderr).toContain('but the cluster of `admin` has no platform')
    expect((await invite('--context admin')).stderr).toContain('error: the cluster has no platform')
  })

  test.each([
    ['without a current context', { current: '' }],
    [
      'whose current context is that of the platform',
      { extension: { extensions: [{ name: 'devctl', extension: { platform: URL } }] } },
    ],
  ])('the cluster must be named with a kubeconfig %s', async (_, kubeconfig) => {
    expect(await invite('', kubeconfig)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        `error: the current context is the platform \`${URL}\`\n  = help: this needs the rights`,
      ),
    })
  })

  test('the command says which rights it needs', async () => {
    const message = 'configmaps "settings" is forbidden: User "ann" cannot get resource "configmaps"'
    settings = new Answer(403, { kind: 'Status', code: 403, reason: 'Forbidden', message })
    expect((await invite('--context admin')).stderr).toBe(
      `error: ${message}\n  = note: context \`admin\`, chosen by \`--context\`\n  = help: this needs the rights of a cluster administrator: name a context that has them with \`--context\`\n`,
    )
  })

  test.each([
    ['{"url": ,}', 'Unexpected token'],
    ['', 'Unexpected end of JSON input'],
    ['[]', 'it has to be an object'],
  ])('broken settings of the platform are reported: %s', async (text, problem) => {
    settings = settingsOf(text)
    const { status, stderr } = await invite()
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining('`settings.json` of the ConfigMap `settings` cannot be read'),
    ])
    expect(stderr).toContain(problem)
    expect(stderr).toContain('kubectl --namespace devctl-platform edit configmap settings')
  })
})
