import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import { platformObjects, SETTINGS_FILE } from '../../../../platform/install/manifests/server.ts'
import { connectPlatform } from '../../../../platform/session/connect-platform.ts'
import { Secret } from '../../../../project/contexts/secret.ts'
import { saveContext } from '../../../../project/contexts/store.ts'
import { chooseTarget, findTarget, type TargetSources } from '../../../../project/contexts/target.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { kubeconfigWith } from '../../../support/contexts/kubeconfig.ts'

const choices = (over: Partial<TargetSources> = {}): TargetSources => ({
  options: {},
  env: {},
  manifest: {},
  stored: { current: undefined, contexts: new Map() },
  kubeconfig: {
    paths: ['/k'],
    current: 'kube',
    contexts: new Map([
      ['option', { path: '/k' }],
      ['variable', { path: '/k' }],
      ['manifest', { path: '/k' }],
      ['stored', { path: '/k', namespace: 'of-kubeconfig' }],
      ['kube', { path: '/k', namespace: 'of-kube' }],
    ]),
  },
  ...over,
})

const stored = {
  current: 'stored',
  contexts: new Map([
    ['stored', { name: 'stored', namespace: 'remembered' }],
    ['option', { name: 'option' }],
  ]),
}
const all = {
  options: { context: 'option', namespace: 'by-option' },
  env: { DEVCTL_CONTEXT: 'variable', DEVCTL_NAMESPACE: 'by-variable' },
  manifest: { context: 'manifest', namespace: 'by-manifest' },
  stored,
}

describe('the target of a command', () => {
  test('a context that `devctl kubeconfig` wrote stands for its platform, with the namespace that it has', () => {
    const platform = 'https://p.example.com'
    const contexts = new Map([['p_example_com', { path: '/k', namespace: 'mine', platform }]])
    const kubeconfig = { paths: ['/k'], current: 'p_example_com', contexts }
    const login = { current: undefined, contexts: new Map([[platform, { name: platform, token: new Secret('t') }]]) }
    expect(chooseTarget(choices({ kubeconfig, stored: login }))).toMatchObject({
      context: platform,
      namespace: 'mine',
      from: { context: 'the current context of the kubeconfig', namespace: 'the kubeconfig' },
    })
    expect(() => chooseTarget(choices({ kubeconfig }))).toThrow('you are not logged in to `https://p.example.com`')
  })

  test('a value of an environment is not said to come from an option', () => {
    const setBy = { context: 'the environment `x`', namespace: 'the environment `x`' }
    expect(chooseTarget(choices({ options: { context: 'option', namespace: 'n', setBy } })).from).toEqual(setBy)
    try {
      chooseTarget(choices({ options: { context: 'nope', setBy } }))
      expect.unreachable()
    } catch (error) {
      expect((error as UserError).notes).toEqual(['it was chosen by the environment `x`'])
    }
  })

  test('the target comes from option, variable, manifest, stored context, kubeconfig, in this order', () => {
    const chosen = (over: Partial<TargetSources>) => {
      const { context, namespace, from } = chooseTarget(choices(over))
      return [context, namespace, from.context, from.namespace]
    }
    expect(chosen(all)).toEqual(['option', 'by-option', '`--context`', '`--namespace`'])
    expect(chosen({ ...all, options: {} })).toEqual([
      'variable',
      'by-variable',
      '`DEVCTL_CONTEXT`',
      '`DEVCTL_NAMESPACE`',
    ])
    expect(chosen({ ...all, options: {}, env: {} })).toEqual([
      'manifest',
      'by-manifest',
      'the manifest',
      'the manifest',
    ])
    expect(chosen({ stored })).toEqual(['stored', 'remembered', '`devctl context use`', '`devctl namespace use`'])
    expect(chosen({})).toEqual(['kube', 'of-kube', 'the current context of the kubeconfig', 'the kubeconfig'])
  })

  test('the target has the namespace of its own context only', () => {
    const namespaceOf = (context: string) => chooseTarget(choices({ options: { context }, stored })).namespace
    expect(namespaceOf('option')).toBe('default')
    expect(namespaceOf('kube')).toBe('of-kube')
    expect(namespaceOf('stored')).toBe('remembered')
  })

  test('an empty variable chooses no target', () => {
    expect(chooseTarget(choices({ env: { DEVCTL_CONTEXT: '', DEVCTL_NAMESPACE: '' } })).context).toBe('kube')
  })

  test('a missing context is refused, with the source that chose it', () => {
    const refusal = (over: Partial<TargetSources>) => {
      try {
        return chooseTarget(choices(over))
      } catch (error) {
        return error
      }
    }
    expect(refusal({ options: { context: 'stord' } })).toMatchObject({
      message: 'context `stord` does not exist in the kubeconfig (`/k`)',
      hint: 'did you mean `stored`?',
      notes: [],
    })
    expect(refusal({ stored: { current: 'kind-old', contexts: new Map() } })).toMatchObject({
      message: 'context `kind-old` does not exist in the kubeconfig (`/k`)',
      hint: 'it has `kube`, `manifest`, `option`, `stored`, `variable`',
      notes: ['it was chosen by `devctl context use`'],
    })
    for (const context of ['platform.example.com:8443', 'htps://platform.example.com:8443/'])
      expect(refusal({ options: { context } })).toMatchObject({
        hint: 'the context of a platform is its address: `https://platform.example.com:8443`',
      })
    const onPlatform = { current: 'https://p.example.com', contexts: new Map() }
    expect(refusal({ options: { context: 'shop' }, stored: onPlatform })).toMatchObject({
      hint: 'the current context is `https://p.example.com`; `devctl namespace use shop` selects one of its namespaces',
    })
    const empty = { paths: ['/k', '/l'], current: undefined, contexts: new Map() }
    expect(refusal({ kubeconfig: empty })).toMatchObject({
      message: 'no context is selected',
      hint: 'the kubeconfig (`/k`, `/l`) has no contexts; name another file in `KUBECONFIG`, or log in to a platform: `devctl context use https://…`',
    })
    expect(refusal({ kubeconfig: { ...empty, isMissing: true } })).toMatchObject({
      hint: expect.stringMatching(/^the kubeconfig \(`\/k`, `\/l`\) does not exist; name another file in `KUBECONFIG`/),
    })
    expect(refusal({ kubeconfig: { ...choices().kubeconfig, current: undefined } })).toMatchObject({
      message: 'no context is selected',
      hint: expect.stringContaining('`devctl context use NAME` chooses one; it has `kube`'),
    })
  })

  test.each([
    [{ options: { context: 'https://P.example.com:443/' } }, []],
    [{ env: { DEVCTL_URL: 'https://p.example.com/', DEVCTL_CONTEXT: 'kube' } }, ['it was chosen by `DEVCTL_URL`']],
    [{ stored: { current: 'https://p.example.com', contexts: new Map() } }, ['it was chosen by `devctl context use`']],
  ])('a platform without a login is refused', (over, notes) => {
    let error: unknown
    try {
      chooseTarget(choices(over))
    } catch (caught) {
      error = caught
    }
    expect(error).toMatchObject({
      message: 'you are not logged in to `https://p.example.com`',
      hint: expect.stringContaining('`devctl context use https://p.example.com` logs in'),
      notes,
    })
  })

  test.each([
    [
      'https://ann:hunter2@p.example.com',
      'the address of a platform is like `https://platform.example.com`',
      undefined,
    ],
    ['https://p.example.com/console', '`https://p.example.com/console` has a path', 'write `https://p.example.com`'],
    ['HTTP://P.example.com', '`http://p.example.com` is not encrypted', 'write `https://p.example.com`'],
  ])('a context that is no address of a platform is refused: %s', (context, message, hint) => {
    for (const [over, from] of [
      [{ options: { context } }, '`--context`'],
      [{ env: { DEVCTL_CONTEXT: context } }, '`DEVCTL_CONTEXT`'],
      [{ manifest: { context } }, 'the manifest'],
    ] as const) {
      let error: unknown
      try {
        chooseTarget(choices(over))
      } catch (caught) {
        error = caught
      }
      expect(error).toMatchObject({ message, hint, notes: [`it was chosen by ${from}`] })
      expect(`${error}${(error as UserError).hint}`).not.toContain('hunter2')
    }
  })

  test.each(['https://P.example.com', 'https://p.example.com/', 'HTTPS://p.example.com:443'])(
    'the address of a platform is normalized: %s',
    context => {
      const url = 'https://p.example.com'
      const known = { current: undefined, contexts: new Map([[url, { name: url, token: new Secret('x') }]]) }
      for (const over of [{ options: { context } }, { env: { DEVCTL_CONTEXT: context } }, { manifest: { context } }]) {
        const { context: chosen, stored } = chooseTarget(choices({ stored: known, ...over }))
        expect([chosen, stored.token?.reveal()]).toEqual([url, 'x'])
      }
    },
  )

  test.each([
    ['http://192.0.2.2:18999', '`http://192.0.2.2:18999` is not encrypted', 'write `https://192.0.2.2:18999`'],
    ['http://127.0.0.1.example.com', '`http://127.0.0.1.example.com` is not', 'write `https://127.0.0.1.example.com`'],
    ['https://', 'the address of a platform is like', 'to choose a context of the kubeconfig, set `DEVCTL_CONTEXT`'],
    ['platform.example.com', 'the address of a platform is like', 'write `https://platform.example.com`'],
    ['stored', 'the address of a platform is like', 'to choose a context of the kubeconfig, set `DEVCTL_CONTEXT`'],
    ['https://p.example.com/console', '`https://p.example.com/console` has a path', 'write `https://p.example.com`'],
    ['https://ann:hunter2@p.example.com', 'the address of a platform is like', expect.any(String)],
  ])('a `DEVCTL_URL` that is no address of a platform is refused: %s', (url, message, hint) => {
    const env = { DEVCTL_URL: url, DEVCTL_TOKEN: 'hunter3' }
    let error: unknown
    try {
      chooseTarget(choices({ env }))
    } catch (caught) {
      error = caught
    }
    expect(error).toMatchObject({ message: expect.stringContaining(`not the address of a platform: ${message}`), hint })
    expect(`${error}${(error as UserError).hint}`).not.toContain('hunter')
    // A command that names another context does not use the variable.
    expect(chooseTarget(choices({ env, options: { context: 'kube' } })).context).toBe('kube')
  })

  test('the token of the environment is used only for the platform that the environment names', () => {
    const tokenOf = (url: string, context?: string) =>
      chooseTarget(
        choices({ env: { DEVCTL_URL: url, DEVCTL_TOKEN: 'x' }, options: { context } }),
      ).stored.token?.reveal()
    expect(tokenOf('https://P.example.com/')).toBe('x')
    expect(tokenOf('http://127.0.0.1:8080')).toBe('x')
    expect(tokenOf('https://p.example.com/', 'https://p.example.com')).toBe('x')
    const given = (DEVCTL_TOKEN: string) =>
      chooseTarget(choices({ env: { DEVCTL_URL: 'https://p.example.com', DEVCTL_TOKEN } })).stored.token?.reveal()
    expect(given('devctl_api_x\r\n')).toBe('devctl_api_x')
    for (const token of ['devctl_api_x\nhost: y', 'hünter2', 'a b'])
      expect(() => given(token)).toThrow('`DEVCTL_TOKEN` does not contain a token')
    expect(() => given(' \n')).toThrow('you are not logged in')
    expect(() => tokenOf('https://p.example.com', 'https://q.example.com')).toThrow('you are not logged in')
    for (const url of ['http://p.example.com', 'http://platform.devctl-platform.svc', 'http://platform.svc:8081'])
      expect(() => connectPlatform(url, new Secret('x'), {})).toThrow('is not encrypted')
  })

  test('the token of a run goes to the server in its cluster, at the address that install writes', () => {
    const all = platformObjects({
      ...{ version: '', domain: 'x', image: '', runnerImage: '', replicas: 1, kubernetes: { server: '' } },
    })
    const settings = all.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'settings')
    const { url } = JSON.parse((settings!['data'] as Record<string, string>)[SETTINGS_FILE]!).runs
    expect(connectPlatform(url, new Secret('x'), {}).url).toBe(url)
  })

  test('the target is found in the files of the user', async () => {
    const folder = makeFolder({ config: kubeconfigWith({ a: 'x', b: 'y' }) })
    const around = { env: { KUBECONFIG: 'config', DEVCTL_HOME: 'home' }, cwd: folder }
    expect(await findTarget(around, {})).toMatchObject({ context: 'a', namespace: 'x' })
    await saveContext(join(folder, 'home'), { name: 'b' }, true)
    expect(await findTarget(around, {})).toMatchObject({ context: 'b', namespace: 'y', stored: { name: 'b' } })
    expect(await findTarget(around, {}, { context: 'a' })).toMatchObject({ context: 'a' })
  })
})
