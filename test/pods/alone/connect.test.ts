import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ClusterError } from '../../../adapters/kubernetes/cluster.ts'
import { connect } from '../../../adapters/kubernetes/kube-cluster.ts'
import { makeFolder, read } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { adminOf, editorToken, writeKubeconfig } from '../../support/cluster/kubeconfigs.ts'
import { startProxy, startSilence } from '../../support/cluster/proxy.ts'
import { run } from '../../support/run.ts'
import { few } from '../../support/takes-all.ts'

const found = findCluster()
const namespace = `connect-${process.pid}`
/** Milliseconds within which a first request must have failed. */
const SOON = 10_000

describe.skipIf(found === undefined)('a connection to the API server', () => {
  const cluster = found!
  const kubeconfig = process.env.KUBECONFIG ?? ''
  const admin = found ? adminOf(kubeconfig) : { server: 'https://none', authority: '', certificate: '', key: '' }
  const trusted = { server: admin.server, 'certificate-authority-data': admin.authority }
  const administrator = { 'client-certificate-data': admin.certificate, 'client-key-data': admin.key }
  let token = ''

  beforeAll(async () => {
    await cluster.createNamespace(namespace)
    token = await editorToken(cluster, namespace)
  })

  afterAll(async () => {
    await cluster.deleteNamespace(namespace)
    cluster.close()
  })

  /** Requests an object that the role `edit` may read. */
  async function ask(env: Readonly<Record<string, string>>): Promise<string> {
    const connected = await connect({ env: { PATH: process.env.PATH, ...env } })
    const account = await connected.get({ apiVersion: 'v1', kind: 'ServiceAccount', name: 'editor', namespace })
    return account?.metadata.name ?? 'nobody'
  }

  /** Returns the failure and the message, and whether it failed soon. */
  async function refusal(env: Readonly<Record<string, string>>) {
    const begin = performance.now()
    const error = await ask(env).catch((error: unknown) => error)
    const took = performance.now() - begin
    if (!(error instanceof ClusterError)) throw new Error('it was let in', { cause: error })
    return { failure: error.failure, message: error.message, isSoon: took < SOON }
  }

  function plugin(folder: string, script: string): Record<string, unknown> {
    writeFileSync(join(folder, 'plugin'), `#!/bin/sh\necho ran >>"${folder}/runs"\n${script}\n`)
    chmodSync(join(folder, 'plugin'), 0o755)
    return { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', interactiveMode: 'Never' }
  }

  const credential = (status: object) =>
    `cat <<'EOF'\n${JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })}\nEOF`

  const pem = (base64: string) => Buffer.from(base64, 'base64').toString('utf8')

  test('connect uses a client certificate', async () => {
    const file = writeKubeconfig(makeFolder(), { cluster: trusted, user: administrator })
    expect(await ask({ KUBECONFIG: file })).toBe('editor')
  })

  test('connect uses certificates in files, relative to the folder of the kubeconfig', async () => {
    const folder = makeFolder({
      'ca.crt': pem(admin.authority),
      'me.crt': pem(admin.certificate),
      'me.key': pem(admin.key),
    })
    const file = writeKubeconfig(folder, {
      cluster: { server: admin.server, 'certificate-authority': 'ca.crt' },
      user: { 'client-certificate': 'me.crt', 'client-key': 'me.key' },
    })
    expect(await ask({ KUBECONFIG: file })).toBe('editor')
  })

  test('connect uses a token, or one in a file', async () => {
    const folder = makeFolder({ 'the-token': `${token}\n` })
    expect(await ask({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user: { token } }) })).toBe('editor')
    const user = { tokenFile: 'the-token', token: 'another-token' }
    expect(await ask({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user }) })).toBe('editor')
  })

  test('connect merges several kubeconfigs', async () => {
    const folder = makeFolder()
    const files = [
      join(folder, 'not-there'),
      writeKubeconfig(folder, { namespace }, 'contexts'),
      writeKubeconfig(folder, { cluster: trusted }, 'clusters'),
      writeKubeconfig(folder, { cluster: { server: 'https://127.0.0.1:1' }, user: { token } }, 'users'),
    ]
    expect(await ask({ KUBECONFIG: files.join(':') })).toBe('editor')
  })

  test('connect uses the token of a credential plugin, which runs once', async () => {
    const folder = makeFolder()
    const exec = plugin(folder, credential({ token }))
    expect(await ask({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user: { exec } }) })).toBe('editor')
    expect(read(folder)['runs']).toBe('ran\n')
  })

  test('connect uses the certificate of a credential plugin', async () => {
    const folder = makeFolder()
    const status = { clientCertificateData: pem(admin.certificate), clientKeyData: pem(admin.key) }
    const exec = plugin(folder, credential(status))
    expect(await ask({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user: { exec } }) })).toBe('editor')
  })

  test('connect passes the cluster, variables and arguments to a credential plugin', async () => {
    const folder = makeFolder()
    const script = `printf '%s' "$KUBERNETES_EXEC_INFO" >"${folder}/info"; printf '%s %s' "$OWN" "$1" >"${folder}/own"\n${credential({ token })}`
    const exec = {
      ...plugin(folder, script),
      args: ['login'],
      env: [{ name: 'OWN', value: 'mine' }],
      provideClusterInfo: true,
    }
    expect(await ask({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user: { exec } }) })).toBe('editor')
    const { info, own } = read(folder)
    expect(own).toBe('mine login')
    expect(JSON.parse(info!)).toMatchObject({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: admin.server, 'certificate-authority-data': admin.authority } },
    })
  })

  test('connect runs a plugin once more if its token is refused', async () => {
    const folder = makeFolder()
    const script = `if [ "$(wc -l <"${folder}/runs")" -gt 1 ]; then\n${credential({ token })}\nelse\n${credential({ token: 'old' })}\nfi`
    const exec = plugin(folder, script)
    expect(await ask({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user: { exec } }) })).toBe('editor')
    expect(read(folder)['runs']).toBe('ran\nran\n')
  })

  test('connect impersonates another user', async () => {
    const folder = makeFolder()
    const groups = ['system:authenticated', `system:serviceaccounts:${namespace}`]
    const other = { ...administrator, as: 'nobody-we-know', 'as-groups': ['system:masters'] }
    expect(await ask({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user: other }) })).toBe('editor')
    const powerless = { ...other, 'as-groups': groups }
    expect(await refusal({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user: powerless }) })).toMatchObject(
      {
        failure: 'forbidden',
        message: expect.stringContaining('User "nobody-we-know" cannot get resource "serviceaccounts"'),
      },
    )
  })

  test('connect uses the proxy of the kubeconfig', async () => {
    const proxy = await startProxy(new URL(admin.server))
    onTestFinished(() => proxy.close())
    const file = writeKubeconfig(makeFolder(), { cluster: { ...trusted, 'proxy-url': proxy.url }, user: { token } })
    expect(await ask({ KUBECONFIG: file })).toBe('editor')
    expect(proxy.asked[0]).toBe(new URL(admin.server).host)
  })

  test('connect uses HTTPS_PROXY, and `tls-server-name` for the certificate', async () => {
    const proxy = await startProxy(new URL(admin.server))
    onTestFinished(() => proxy.close())
    const elsewhere = { ...trusted, server: 'https://api.devctl.invalid:6443' }
    const user = { token }
    const env = { HTTPS_PROXY: proxy.url }
    const named = writeKubeconfig(makeFolder(), { cluster: { ...elsewhere, 'tls-server-name': 'kubernetes' }, user })
    expect(await ask({ KUBECONFIG: named, ...env })).toBe('editor')
    expect(new Set(proxy.asked)).toEqual(new Set(['api.devctl.invalid:6443']))
    const unnamed = writeKubeconfig(makeFolder(), { cluster: elsewhere, user })
    expect(await refusal({ KUBECONFIG: unnamed, ...env })).toMatchObject({
      failure: 'unreachable',
      message: expect.stringContaining('the certificate of `https://api.devctl.invalid:6443` is not trusted'),
    })
  })

  test('connect accepts an unknown certificate only with insecure-skip-tls-verify', async () => {
    const cluster = { server: admin.server }
    const user = { token }
    const careless = { ...cluster, 'insecure-skip-tls-verify': true }
    expect(await ask({ KUBECONFIG: writeKubeconfig(makeFolder(), { cluster: careless, user }) })).toBe('editor')
    expect(await refusal({ KUBECONFIG: writeKubeconfig(makeFolder(), { cluster, user }) })).toMatchObject({
      failure: 'unreachable',
      message: expect.stringContaining('is not trusted'),
      isSoon: true,
    })
  })

  describe('refused credentials', () => {
    test('connect reports a token that the server does not know', async () => {
      const file = writeKubeconfig(makeFolder(), { cluster: trusted, user: { token: 'wrong-token' } })
      expect(await refusal({ KUBECONFIG: file })).toEqual({
        failure: 'unauthorized',
        message: `\`${admin.server}\` refuses the credentials of user \`u\``,
        isSoon: true,
      })
    })

    test('connect reports a token that has expired', async () => {
      const claims = Buffer.from(JSON.stringify({ exp: 1_700_000_000 })).toString('base64url')
      const [head, , signature] = token.split('.')
      const expired = [head, claims, signature].join('.')
      const file = writeKubeconfig(makeFolder(), { cluster: trusted, user: { token: expired } })
      expect(await refusal({ KUBECONFIG: file })).toMatchObject({
        failure: 'unauthorized',
        message: `\`${admin.server}\` refuses the credentials of user \`u\`: its token expired on 2023-11-14 22:13 UTC`,
      })
    })

    test('connect reports a client certificate that has expired', async () => {
      const folder = makeFolder()
      expiredCertificate(folder, dirname(kubeconfig))
      const user = { 'client-certificate': join(folder, 'old.crt'), 'client-key': join(folder, 'old.key') }
      expect(await refusal({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user }) })).toEqual({
        failure: 'unauthorized',
        message: `\`${admin.server}\` refuses the credentials of user \`u\`: its client certificate expired on 2020-01-02 00:00 UTC`,
        isSoon: true,
      })
    })

    test.each([
      ['is missing', undefined, 'the credential plugin `devctl-no-such` is not installed: get it at example.com'],
      ['fails', 'echo no luck >&2; exit 3', /^the credential plugin `.*plugin` failed with exit status 3$/],
      [
        'prints something else',
        'echo SECRET-TOKEN',
        /^the credential plugin `.*plugin` did not print an ExecCredential: it is not valid JSON$/,
      ],
      ['gives nothing', 'echo "{}"', /did not print an ExecCredential: `status` is missing$/],
    ])('connect reports a credential plugin that %s', async (_, script, message) => {
      const folder = makeFolder()
      const exec =
        script === undefined
          ? {
              apiVersion: 'client.authentication.k8s.io/v1',
              command: 'devctl-no-such',
              installHint: 'get it at example.com',
              interactiveMode: 'Never',
            }
          : plugin(folder, script)
      const answer = await refusal({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user: { exec } }) })
      expect(answer).toMatchObject({ failure: 'unauthorized', isSoon: true })
      expect(answer.message).toMatch(message)
      expect(answer.message).not.toContain('SECRET-TOKEN')
    })

    test('connect reports a certificate file that does not exist', async () => {
      const folder = makeFolder()
      const user = { 'client-certificate': 'gone.crt', 'client-key': 'gone.key' }
      expect(await refusal({ KUBECONFIG: writeKubeconfig(folder, { cluster: trusted, user }) })).toMatchObject({
        failure: 'unauthorized',
        message: `the file \`${join(folder, 'gone.crt')}\`, which the kubeconfig names, is not there`,
      })
    })
  })

  describe('messages of the command line, each within 10 s', () => {
    const files = { 'compose.yaml': 'name: app\nservices: {web: {image: nginx}}\n' }

    async function deploy(kubeconfig: string, ...more: readonly string[]) {
      const folder = makeFolder(files)
      const begin = performance.now()
      const result = await run(['deploy', ...more], {
        cwd: folder,
        env: { KUBECONFIG: kubeconfig, DEVCTL_HOME: join(folder, 'home'), PATH: process.env.PATH ?? '' },
      })
      return { ...result, isSoon: performance.now() - begin < SOON }
    }

    test('deploy reports a context that does not exist', async () => {
      const file = writeKubeconfig(makeFolder(), { cluster: trusted, user: { token } })
      expect(await deploy(file, '--context', 'kind-old')).toEqual({
        status: 1,
        stdout: '',
        stderr: `error: context \`kind-old\` does not exist in the kubeconfig (\`${file}\`)\n  = help: it has \`it\`\n`,
        isSoon: true,
      })
    })

    test('deploy reports a cluster that is down, and one that does not respond', async () => {
      const down = writeKubeconfig(makeFolder(), { cluster: { server: 'https://127.0.0.1:1' }, user: { token } })
      expect(await deploy(down)).toEqual({
        status: 1,
        stdout: '',
        stderr: [
          'error: nothing listens at `https://127.0.0.1:1`',
          '  = note: context `it`, chosen by the current context of the kubeconfig',
          '  = help: is the cluster running, and is the context the right one?\n',
        ].join('\n'),
        isSoon: true,
      })
      const silence = await startSilence()
      onTestFinished(() => silence.close())
      for (const [server, words] of few([
        [silence.url.replace('http:', 'https:'), /^error: no connection to `https:.*` in 8 s\n/],
        [silence.url, /^error: `http:.*` took the request but did not answer in 8 s\n/],
      ] as const)) {
        const silent = await deploy(writeKubeconfig(makeFolder(), { cluster: { server }, user: { token } }))
        expect(silent).toMatchObject({ status: 1, isSoon: true })
        expect(silent.stderr).toMatch(words)
      }
    })

    test('deploy reports credentials that are refused', async () => {
      const file = writeKubeconfig(makeFolder(), { cluster: trusted, user: { token: 'wrong-token' } })
      expect(await deploy(file)).toEqual({
        status: 1,
        stdout: '',
        stderr: [
          `error: \`${admin.server}\` refuses the credentials of user \`u\``,
          '  = note: context `it`, chosen by the current context of the kubeconfig',
          '  = help: log in again, or choose another context with `--context`\n',
        ].join('\n'),
        isSoon: true,
      })
    })
  })
})

/** Writes `old.crt` and `old.key`, signed by the cluster's authority if its key is available. */
function expiredCertificate(folder: string, state: string): void {
  const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const [certificate, key] = [join(state, 'pki/ca.crt'), join(state, 'pki/ca.key')]
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    'old.key',
    '-out',
    'old.csr',
    '-subj',
    '/O=system:masters/CN=late',
  )
  const signer = existsSync(key) ? ['-cert', certificate, '-keyfile', key] : ['-selfsign', '-keyfile', 'old.key']
  const settings = [
    '[ca]',
    'default_ca = it',
    '[it]',
    'new_certs_dir = .',
    'database = index',
    'serial = serial',
    'default_md = sha256',
    'policy = any',
    '[any]',
    'organizationName = optional',
    'commonName = supplied',
  ]
  writeFileSync(join(folder, 'ca.cnf'), settings.join('\n'))
  writeFileSync(join(folder, 'index'), '')
  writeFileSync(join(folder, 'serial'), '01')
  openssl(
    'ca',
    '-batch',
    '-notext',
    '-config',
    'ca.cnf',
    ...signer,
    '-startdate',
    '20200101000000Z',
    '-enddate',
    '20200102000000Z',
    '-in',
    'old.csr',
    '-out',
    'old.crt',
  )
  if (!readFileSync(join(folder, 'old.crt'), 'utf8').includes('BEGIN CERTIFICATE')) throw new Error('no certificate')
}
