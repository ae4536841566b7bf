import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { kubeconfigAccess } from '../../../../adapters/kubernetes/connection.ts'
import { needsLibrary, readCredentials } from '../../../../adapters/kubernetes/credentials.ts'
import { withPluginCredentials } from '../../../../adapters/kubernetes/exec-plugin.ts'
import { type Env, loadKubeconfig } from '../../../../adapters/kubernetes/kubeconfig.ts'
import { UserError } from '../../../../compiler/diagnostics/user-error.ts'

const folder = () => mkdtempSync(join(tmpdir(), 'devctl-kubeconfig-'))
const server = 'https://cluster.example.com:6443'

/**
 * Writes a kubeconfig of one context, `dev`, with some fields of its cluster and user; gives the environment that names
 * it.
 */
function one(user: object, cluster: object = {}, more: object = {}): Env {
  const file = join(folder(), 'config')
  const whole = {
    'current-context': 'dev',
    contexts: [{ name: 'dev', context: { cluster: 'c', user: 'u', namespace: 'shop' } }],
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: [{ name: 'u', user }],
    ...more,
  }
  writeFileSync(file, JSON.stringify(whole))
  return { KUBECONFIG: file }
}

function write(path: string, text: string): string {
  writeFileSync(path, text)
  return path
}

describe('loadKubeconfig', () => {
  test('loadKubeconfig reads the current context, with its namespace and server', async () => {
    const found = await loadKubeconfig(undefined, one({}))
    expect(found).toMatchObject({ context: 'dev', namespace: 'shop', server: new URL(server) })
  })

  test('loadKubeconfig searches all files, and the first value wins', async () => {
    const home = folder()
    const a = write(
      join(home, 'a'),
      `contexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: "https://a"}}]\n`,
    )
    const b = write(
      join(home, 'b'),
      `current-context: x
contexts: [{name: x, context: {cluster: other}}, {name: y, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://b"}}]
users: [{name: u, user: {token: t}}]`,
    )
    const env = { KUBECONFIG: [a, join(home, 'none'), b].join(delimiter) }
    const found = await loadKubeconfig(undefined, env)
    expect(found).toMatchObject({ context: 'x', namespace: 'default', user: { token: 't' } })
    expect(found.server.href).toBe('https://a/')
    expect((await loadKubeconfig('y', env)).server.href).toBe('https://a/')
  })

  test('loadKubeconfig reads the file in the home if KUBECONFIG is not set', async () => {
    const home = folder()
    mkdirSync(join(home, '.kube'))
    writeFileSync(join(home, '.kube/config'), 'current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n')
    await expect(loadKubeconfig(undefined, { HOME: home })).rejects.toThrow('context `x` refers to cluster `c`, which')
  })

  test.each([
    ['a name that is none', one({}), 'dav', 'the kubeconfig has no context `dav`'],
    ['no current context', one({}, {}, { 'current-context': '' }), undefined, 'the kubeconfig has no current context'],
    [
      'a user that is missing',
      one({}, {}, { users: [] }),
      undefined,
      'refers to user `u`, which is not in the kubeconfig',
    ],
    ['an address that is none', one({}, { server: 'cluster:6443' }), undefined, 'is not an http or https URL'],
    ['a file that is missing', { KUBECONFIG: '/no/such/file' }, undefined, 'no kubeconfig found at `/no/such/file`'],
    ['no file at all', { HOME: '/no/such/home' }, undefined, 'no kubeconfig found'],
    ['a folder', { KUBECONFIG: tmpdir() }, undefined, 'it is a folder'],
  ])('%s is an error', async (_, env, context, message) => {
    const error = await loadKubeconfig(context, env).catch(error => error)
    expect(error).toBeInstanceOf(UserError)
    expect(error.message).toContain(message)
  })

  test('a file that is not YAML is an error that quotes nothing of it', async () => {
    const file = write(join(folder(), 'config'), 'users:\n- name: u\n  user: {token: s3cret\n- a: [b\n')
    const error = await loadKubeconfig(undefined, { KUBECONFIG: file }).catch(error => error)
    expect(error.message).toMatch(/^cannot read the kubeconfig `.*`: it is not YAML: .*line \d/)
    expect(`${error.stack} ${error.cause}`).not.toContain('s3cret')
  })

  test.each(['- a\n', 'text\n'])('a file that is no kubeconfig is an error: %j', async text => {
    const file = write(join(folder(), 'config'), text)
    await expect(loadKubeconfig(undefined, { KUBECONFIG: file })).rejects.toThrow('it is not a kubeconfig')
  })
})

describe('credentials', () => {
  const credentials = async (user: object, cluster: object = {}) =>
    readCredentials(await loadKubeconfig(undefined, one(user, cluster)))

  test('a user without credentials sends no headers', async () => {
    expect(await credentials({})).toEqual({ tls: {}, headers: {} })
  })

  test('data in the kubeconfig takes precedence over files', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const { tls } = await credentials(
      { 'client-certificate-data': base64('cert'), 'client-certificate': '/none', 'client-key-data': base64('key') },
      { 'certificate-authority-data': base64('ca') },
    )
    expect(Object.fromEntries(Object.entries(tls).map(([name, value]) => [name, String(value)]))).toEqual({
      ca: 'ca',
      cert: 'cert',
      key: 'key',
    })
  })

  test('paths of files are relative to the folder of the kubeconfig', async () => {
    const env = one({ 'client-certificate': 'tls/cert.pem', 'client-key': './key.pem', tokenFile: 'token' })
    const home = join(env.KUBECONFIG!, '..')
    mkdirSync(join(home, 'tls'))
    write(join(home, 'tls/cert.pem'), 'cert')
    write(join(home, 'key.pem'), 'key')
    write(join(home, 'token'), 'from a file\n')
    const { tls, headers } = readCredentials(await loadKubeconfig(undefined, env))
    expect([String(tls.cert), String(tls.key)]).toEqual(['cert', 'key'])
    expect(headers).toEqual({ authorization: 'Bearer from a file' })
  })

  test.each([
    [{ token: 't' }, { authorization: 'Bearer t' }],
    [{ token: 't', username: 'ann', password: 'p' }, { authorization: 'Bearer t' }],
    [{ username: 'ann', password: 'p:q' }, { authorization: `Basic ${btoa('ann:p:q')}` }],
    [
      { token: 't', as: 'bob', 'as-uid': '7', 'as-groups': ['a', 'b'], 'as-user-extra': { 'example.com/Why': ['x'] } },
      {
        authorization: 'Bearer t',
        'impersonate-user': 'bob',
        'impersonate-uid': '7',
        'impersonate-group': ['a', 'b'],
        'impersonate-extra-example.com%2Fwhy': ['x'],
      },
    ],
  ])('the headers of a request follow from the user %j', async (user, headers) => {
    expect((await credentials(user)).headers).toEqual(headers)
  })

  test('an unreadable file and an invalid certificate are errors that quote no content', async () => {
    const access = await kubeconfigAccess(undefined, one({ tokenFile: '/no/such/token' }))
    await expect(access.connect()).rejects.toMatchObject({
      failure: 'unauthorized',
      message: 'the file `/no/such/token`, which the kubeconfig names, is not there',
    })
    const broken = await kubeconfigAccess(undefined, one({ 'client-certificate-data': btoa('s3cret') }))
    const error = await broken.connect().catch(error => error)
    expect(error).toMatchObject({ failure: 'unauthorized' })
    expect(error.message).toMatch(/^a certificate or key of the kubeconfig cannot be read: /)
    expect(error.message).not.toContain('s3cret')
  })

  test('credentials are read again after they were refused', async () => {
    const env = one({ tokenFile: 'token' })
    const file = join(env.KUBECONFIG!, '../token')
    write(file, 'old')
    const access = await kubeconfigAccess(undefined, env)
    const old = await access.connect()
    expect(old.headers).toEqual({ authorization: 'Bearer old' })
    write(file, 'new')
    const renewed = await access.connect(old)
    expect(renewed.headers).toEqual({ authorization: 'Bearer new' })
    write(file, 'newer')
    expect(await access.connect(old), 'credentials that were already replaced').toBe(renewed)
    expect(await access.connect()).toBe(renewed)
  })

  test('connections whose credentials are refused together renew them once', async () => {
    const env = one({ tokenFile: 'token' })
    write(join(env.KUBECONFIG!, '../token'), 'old')
    const access = await kubeconfigAccess(undefined, env)
    const old = await access.connect()
    const [first, second] = await Promise.all([access.connect(old), access.connect(old)])
    expect(first).not.toBe(old)
    expect(second).toBe(first)
  })
})

describe('the client library', () => {
  test('the client library is used only if it is needed', async () => {
    const needs = async (user: object, cluster: object = {}, env: Env = {}) =>
      needsLibrary(await loadKubeconfig(undefined, { ...one(user, cluster), ...env }))
    expect(await needs({ token: 't' }, { 'tls-server-name': 'a', 'insecure-skip-tls-verify': true })).toBe(false)
    expect(await needs({ exec: { command: 'x' } })).toBe(false)
    expect(await needs({ 'auth-provider': { name: 'oidc' } })).toBe(true)
    expect(await needs({}, { 'proxy-url': 'socks5://proxy' })).toBe(true)
    expect(await needs({}, {}, { HTTPS_PROXY: 'socks5://proxy' })).toBe(true)
    expect(await needs({}, {}, { HTTPS_PROXY: 'proxy:3128' })).toBe(false)
    expect(await needs({}, {}, { HTTPS_PROXY: 'proxy:3128', NO_PROXY: 'example.com' })).toBe(false)
  })

  const plugin = (script: string, more: object = {}) => ({
    apiVersion: 'client.authentication.k8s.io/v1',
    command: './plugin',
    interactiveMode: 'Never',
    ...more,
    script,
  })
  const withPlugin = (script: string, more: object = {}, cluster: object = {}): Env => {
    const env = one({ exec: plugin(script, more), as: 'bob', 'as-groups': ['a'] }, cluster)
    writeFileSync(join(env.KUBECONFIG!, '../plugin'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    return { ...env, PATH: process.env.PATH, FROM_OUTSIDE: 'outside' }
  }
  const credential = (token: string) =>
    `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'${token}'"}}'`

  test('a plugin beside the kubeconfig gets the environment of the process and its own', async () => {
    const env = withPlugin(credential('$FROM_OUTSIDE-$OWN'), { env: [{ name: 'OWN', value: 'own' }] })
    const { headers, calls, streams } = await (await kubeconfigAccess(undefined, env)).connect()
    expect(headers).toMatchObject({
      authorization: 'Bearer outside-own',
      'impersonate-user': 'bob',
      'impersonate-group': ['a'],
    })
    expect(Object.keys(headers).filter(name => /impersonate-user/i.test(name))).toHaveLength(1)
    expect(calls).not.toBe(streams)
  })

  test('a plugin gets the information about the cluster that client-go gives', async () => {
    const env = withPlugin(credential('$(echo "$KUBERNETES_EXEC_INFO" | tr -dc a-z0-9:/.,)'), {
      provideClusterInfo: true,
    })
    const { headers } = await (await kubeconfigAccess(undefined, env)).connect()
    expect(headers['authorization']).toContain('server:https://cluster.example.com:6443')
  })

  const authority = { 'certificate-authority-data': btoa('ca') }
  test.each<readonly [string, object, object]>([
    ['the data of the authority', authority, authority],
    ['the content of the file of the authority', { 'certificate-authority': 'ca.crt' }, authority],
    ['the data instead of the file', { 'certificate-authority': 'none.crt', ...authority }, authority],
    [
      'the settings of plugins',
      { extensions: [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }] },
      { config: { audience: 'x' } },
    ],
    ['no settings of other programs', { extensions: [{ name: 'other', extension: { audience: 'x' } }] }, {}],
  ])('a plugin that asks for information about the cluster gets %s', async (_, cluster, wanted) => {
    const env = one({ exec: plugin('', { provideClusterInfo: true }) }, cluster)
    const home = join(env.KUBECONFIG!, '..')
    write(join(home, 'ca.crt'), 'ca')
    const script = `#!/bin/sh\nprintf %s "$KUBERNETES_EXEC_INFO" >'${home}/info'\n${credential('t')}\n`
    writeFileSync(join(home, 'plugin'), script, { mode: 0o755 })
    const around = { ...env, PATH: process.env.PATH }
    await withPluginCredentials(await loadKubeconfig(undefined, env), around, { signal: undefined, isSilent: true })
    const { spec } = JSON.parse(readFileSync(join(home, 'info'), 'utf8'))
    expect(spec.cluster).toEqual({ server, ...wanted })
  })

  test('line ends around a token are not sent', async () => {
    const access = await kubeconfigAccess(undefined, one({ token: 'a\n' }))
    expect((await access.connect()).headers['authorization']).toBe('Bearer a')
  })

  test('a token that no header can contain is refused, and not shown', async () => {
    const access = await kubeconfigAccess(undefined, one({ token: 's3cr\net' }))
    const error = await access.connect().catch((error: Error) => error)
    expect(error).toMatchObject({
      failure: 'unauthorized',
      message: 'the token of the user in the kubeconfig has a character that no token has',
    })
    expect(inspect(error)).not.toContain('s3cr')
  })

  test.each([
    ['SECRET', 'did not print an ExecCredential: it is not valid JSON'],
    ['{"kind":"ExecCredential"}', 'did not print an ExecCredential: `status` is missing'],
    ['{"status":{"token":["SECRET"]}}', 'did not print an ExecCredential: `status.token` must be a string'],
    [
      '{"status":{"clientCertificateData":"SECRET"}}',
      'printed an ExecCredential with neither `status.token` nor a client certificate with its key',
    ],
  ])('the error says what is wrong with the output of a plugin: %s', async (printed, why) => {
    const access = await kubeconfigAccess(undefined, withPlugin(`echo '${printed}'`))
    const error = await access.connect().catch((error: Error) => error)
    expect(error).toMatchObject({ failure: 'unauthorized', message: expect.stringMatching(/plugin` /) })
    expect((error as Error).message.replace(/^.*plugin` /, '')).toBe(why)
    expect(inspect(error)).not.toContain('SECRET')
  })

  test.each<readonly [string, object, string]>([
    ['no command', { command: undefined }, '`command` is missing'],
    ['arguments in one text', { args: 'get-token --login' }, '`args` must be an array or `null`'],
    ['a variable without a value', { env: [{ name: 'AWS_PROFILE' }] }, '`env[0].value` is missing'],
    ['another mode', { interactiveMode: 'Sometimes' }, '`interactiveMode` must be `Never`, `IfAvailable` or `Always`'],
  ])('a plugin with %s is refused', async (_, more, why) => {
    const access = await kubeconfigAccess(undefined, withPlugin('true', more))
    await expect(access.connect()).rejects.toMatchObject({
      failure: 'unauthorized',
      message: `the \`exec\` part of a user in the kubeconfig is not valid: ${why}`,
    })
  })

  test('the error names the plugin that fails', async () => {
    const access = await kubeconfigAccess(undefined, withPlugin('echo no such account >&2; exit 3'))
    await expect(access.connect()).rejects.toMatchObject({
      failure: 'unauthorized',
      message: expect.stringMatching(/^the credential plugin `.*\/plugin` failed with exit status 3$/),
    })
  })
})
