import { once } from 'node:events'
import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { main } from '../../../cli/main.ts'
import type { Choose, Io, PromptAnswer } from '../../../cli/terminal/io.ts'
import { chooseOne } from '../../../cli/terminal/prompt.ts'
import { toTable } from '../../../cli/terminal/table.ts'
import { makeFolder, read } from '../../support/cli/folder.ts'
import { kubeconfigWith } from '../../support/contexts/kubeconfig.ts'
import { run } from '../../support/run.ts'

interface Laptop {
  readonly folder: string
  readonly devctl: (line: string, env?: Readonly<Record<string, string>>) => ReturnType<typeof run>
}

/** A home with a kubeconfig, and perhaps with contexts that devctl remembers. */
function laptop(stored?: object): Laptop {
  const folder = makeFolder({
    '.kube/config': kubeconfigWith({ 'kind-dev': 'shop', prod: undefined }),
    ...(stored && { 'devctl/contexts.json': JSON.stringify(stored) }),
  })
  const env = { HOME: folder, DEVCTL_HOME: 'devctl' }
  return { folder, devctl: (line, more = {}) => run(line.split(' '), { cwd: folder, env: { ...env, ...more } }) }
}

const platform = {
  current: 'kind-dev',
  contexts: {
    'https://platform.example.com': {
      token: 'hunter2-secret',
      namespace: 'ann',
      builder: 'tcp://buildkit.platform.example.com:1234',
      registry: 'registry.platform.example.com',
    },
    'kind-old': { namespace: 'x' },
  },
}

/** Kubeconfig with a context of its own, and one that `devctl kubeconfig` has written for a platform. */
const withPlatform = (platform: string) =>
  JSON.stringify({
    'current-context': 'kind-a',
    contexts: [
      { name: 'kind-a', context: { cluster: 'a', user: 'a' } },
      {
        name: 'written',
        context: { cluster: 'a', user: 'a', extensions: [{ name: 'devctl', extension: { platform } }] },
      },
    ],
    clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:9' } }],
    users: [{ name: 'a', user: {} }],
  })

const ok = (stdout: string) => ({ status: 0, stdout, stderr: '' })

describe('devctl context', () => {
  test('a context that `devctl kubeconfig` wrote stands for its platform', async () => {
    const { folder, devctl } = laptop()
    const url = 'https://127.0.0.1:9'
    writeFileSync(join(folder, '.kube/config'), withPlatform(url))
    const { status, stderr } = await devctl('context use written --namespace shop')
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining(`\`${url}\``) })
    expect((await devctl('context list')).stdout).not.toContain('shop')
  })

  test('kubeconfig writes no invalid namespace', async () => {
    const { folder, devctl } = laptop()
    const before = read(folder)['.kube/config']
    const { status, stderr } = await devctl('kubeconfig', { DEVCTL_NAMESPACE: 'a/b' })
    expect(status).toBe(2)
    expect(stderr).toContain('`DEVCTL_NAMESPACE` is `a/b`')
    expect(before).toContain('kind-dev')
    expect(read(folder)['.kube/config']).toBe(before)
  })

  test('use, show and list agree on the current context', async () => {
    const { devctl } = laptop()
    expect(await devctl('context list')).toEqual(
      ok(
        [
          'Name        Namespace  Builder  Registry',
          'kind-dev *  shop       docker   -',
          'prod        default    docker   -\n',
        ].join('\n'),
      ),
    )
    expect(await devctl('context use prod')).toEqual(ok('Using context default @ prod\n'))
    expect(await devctl('context use prod --namespace web --builder tcp://10.0.0.1:1234')).toEqual(
      ok('Using context web @ prod\n'),
    )
    expect(await devctl('context show')).toEqual(
      ok(`{
  "name": "prod",
  "token": "-",
  "namespace": "web",
  "builder": "tcp://10.0.0.1:1234",
  "registry": "-",
  "domain": "-",
  "isPlatform": false
}
`),
    )
    expect((await devctl('context list')).stdout.split('\n')[2]).toBe('prod *    web        tcp://10.0.0.1:1234  -')
    // Options before the word are the same.
    expect(await devctl('context --namespace other use kind-dev')).toEqual(ok('Using context other @ kind-dev\n'))
  })

  test('list prints platforms first, also as JSON and names, and warns about a missing context', async () => {
    const { devctl } = laptop(platform)
    const list = await devctl('context list')
    expect(list.stdout).toBe(
      [
        'Name                          Namespace  Builder                                   Registry',
        'https://platform.example.com  ann        tcp://buildkit.platform.example.com:1234  registry.platform.example.com',
        'kind-dev *                    shop       docker                                    -',
        'kind-old                      x          docker                                    -',
        'prod                          default    docker                                    -\n',
      ].join('\n'),
    )
    expect(list.stderr).toBe(
      'warning: `kind-old` is not in the kubeconfig any more; `devctl context delete kind-old` forgets it\n',
    )
    expect((await devctl('--loglevel error context list')).stderr).toBe('')
    const records = JSON.parse((await devctl('context list --output json')).stdout)
    expect(records[0]).toEqual({
      name: 'https://platform.example.com',
      namespace: 'ann',
      builder: 'tcp://buildkit.platform.example.com:1234',
      registry: 'registry.platform.example.com',
      domain: '-',
      isPlatform: true,
      current: false,
    })
    expect(records.map(({ current }: { current: boolean }) => current)).toEqual([false, true, false, false])
    expect((await devctl('context list -o name')).stdout).toBe(
      'https://platform.example.com\nkind-dev\nkind-old\nprod\n',
    )
  })

  test('the commands never print the token of a context, at any log level', async () => {
    // Nothing listens there.
    const url = 'https://127.0.0.1:9'
    const contexts = { ...platform.contexts, [url]: platform.contexts['https://platform.example.com'] }
    const { devctl } = laptop({ contexts, current: url })
    const shown = JSON.parse((await devctl('context show')).stdout)
    expect(shown).toMatchObject({ name: url, token: '***', isPlatform: true })
    for (const level of ['debug', 'info', 'warn', 'error'])
      for (const line of [
        'context show',
        'context list',
        'context list --output json',
        'context use prod --token hunter2-secret',
        `context use ${url} --token hunter2-secret`,
        'context delete nothing',
        'namespace use web',
        'namespace list',
        'kubeconfig',
        'deploy',
        'context use prod',
        'deploy --timeout 1ms',
        `context delete ${url}`,
      ]) {
        const { stdout, stderr } = await devctl(`--loglevel ${level} ${line}`)
        expect(`${stdout}${stderr}`, line).not.toMatch(/hunter2|KUBECONFIG-TOKEN/)
      }
  })

  test('variables choose the current context, and `use` warns that they take precedence', async () => {
    const { devctl } = laptop()
    const env = { DEVCTL_CONTEXT: 'prod', DEVCTL_NAMESPACE: 'elsewhere' }
    expect(JSON.parse((await devctl('context show', env)).stdout)).toMatchObject({
      name: 'prod',
      namespace: 'elsewhere',
    })
    expect(await devctl('context use kind-dev', env)).toEqual({
      status: 0,
      stdout: 'Using context shop @ kind-dev\n',
      stderr:
        'warning: `DEVCTL_CONTEXT` is set and takes precedence\nwarning: `DEVCTL_NAMESPACE` is set and takes precedence\n',
    })
    const secret = await devctl('context use prod', { DEVCTL_URL: 'https://ann:hunter2@x.example.com' })
    expect(secret.stderr).toBe('warning: `DEVCTL_URL` is set and takes precedence\n')
  })

  test('the platform of DEVCTL_URL and DEVCTL_TOKEN is the current context and is not stored', async () => {
    const { devctl } = laptop(platform)
    const url = 'https://ci.example.com'
    const env = { DEVCTL_URL: `${url}/`, DEVCTL_TOKEN: 'hunter2\n' }
    expect(JSON.parse((await devctl('context show', env)).stdout)).toEqual({
      name: url,
      token: '***',
      namespace: '-',
      builder: 'platform',
      registry: 'platform',
      domain: '-',
      isPlatform: true,
    })
    expect((await devctl('context list', env)).stdout.split('\n')[1]).toMatch(
      /^https:\/\/ci\.example\.com \* \(DEVCTL_URL\) +- +platform +platform$/,
    )
    const records = JSON.parse((await devctl('context list -o json', env)).stdout)
    expect(records.filter((one: object) => 'fromEnvironment' in one)).toEqual([
      expect.objectContaining({ name: url, current: true, fromEnvironment: true }),
    ])
    expect((await devctl('context list -o name')).stdout).not.toContain(url)
    // Values stored for the platform are ignored if the environment provides a token.
    const known = { ...env, DEVCTL_URL: 'https://platform.example.com', DEVCTL_NAMESPACE: 'web' }
    expect(JSON.parse((await devctl('context show', known)).stdout)).toMatchObject({
      namespace: 'web',
      registry: 'platform',
    })
    for (const [url, said] of [
      ['https://', '`DEVCTL_URL` is not the address of a platform'],
      ['http://192.0.2.2:18999', '`http://192.0.2.2:18999` is not encrypted'],
      ['https://unknown.example.com', 'you are not logged in'],
    ] as const) {
      const more = { DEVCTL_URL: url, DEVCTL_TOKEN: said.startsWith('you') ? '' : 'hunter2' }
      expect(await devctl('context show', more)).toMatchObject({ status: 1, stderr: expect.stringContaining(said) })
      expect(await devctl('context list', more)).toMatchObject({ status: 0 })
    }
  })

  test.each([
    [
      'a builder and a registry that are set',
      { builder: 'docker', registry: 'r.example.com/team' },
      'docker',
      'r.example.com/team',
    ],
    [
      'what the platform told at the login',
      { platformRegistry: 'images.example.com' },
      'platform',
      'images.example.com',
    ],
    ['a platform that told of no registry', { platformRegistry: '-' }, 'platform', '-'],
    ['a login from before it was remembered', {}, 'platform', 'platform'],
  ])('a platform shows its builders and its registry without a request: %s', async (_, fields, builder, registry) => {
    // Nothing listens there.
    const name = 'https://127.0.0.1:9'
    const { devctl } = laptop({ current: name, contexts: { [name]: { token: 'x', namespace: 'ann', ...fields } } })
    expect(JSON.parse((await devctl('context show')).stdout)).toMatchObject({ name, builder, registry })
    const [, row] = (await devctl('context list')).stdout.split('\n')
    expect(row?.split(/ {2,}/)).toEqual([`${name} *`, 'ann', builder, registry])
    const records = JSON.parse((await devctl('context list -o json')).stdout)
    expect(records[0]).toMatchObject({ name, builder, registry })
    const other = { DEVCTL_REGISTRY: 'other.example.com' }
    expect(JSON.parse((await devctl('context show', other)).stdout)).toMatchObject({ registry: 'other.example.com' })
  })

  test('delete deletes the settings of a context only, and explains where else it exists', async () => {
    const { folder, devctl } = laptop(platform)
    const before = read(join(folder, '.kube'))
    expect(await devctl('context delete kind-old')).toEqual(ok('Deleted context kind-old\n'))
    expect(await devctl('context delete kind-old')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('error: context `kind-old` does not exist\n'),
    })
    expect(await devctl('context delete prod')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'error: devctl has no settings for `prod`, which is a context of the kubeconfig\n  = help: `kubectl config delete-context prod` deletes it from the kubeconfig\n',
    })
    expect((await devctl('context delete https://platform.exmple.com')).stderr).toContain(
      'did you mean `https://platform.example.com`?',
    )
    await devctl('context use prod --namespace web')
    expect(await devctl('context delete prod')).toEqual({
      ...ok('Deleted context prod\n'),
      stderr:
        'note: devctl no longer has settings for it; `kubectl config delete-context prod` deletes it from the kubeconfig\n',
    })
    expect(read(join(folder, '.kube'))).toEqual(before)
  })

  test('delete of a platform that does not answer warns that the login is still valid', async () => {
    const url = 'https://127.0.0.1:9'
    const { folder, devctl } = laptop({ contexts: { [url]: { token: 'devctl_cli_x' } } })
    expect(await devctl(`context delete ${url}`)).toEqual({
      status: 0,
      stdout: `Deleted context ${url}\n`,
      stderr: `warning: the login is still valid: the platform \`${url}\` does not answer: connect ECONNREFUSED 127.0.0.1:9\n  = help: to end it, open ${url}/you\n`,
    })
    expect(JSON.parse(read(folder)['devctl/contexts.json'] ?? '')).toEqual({ contexts: {} })
  })

  test.each([
    ['context', 2, 'error: which context?\n  = help: `devctl context use NAME`, with one of `kind-dev`, `prod`\n'],
    ['context use', 2, 'error: which context?\n  = help: `devctl context use NAME`, with one of `kind-dev`, `prod`\n'],
    [
      'context use prot',
      1,
      'error: context `prot` does not exist in the kubeconfig (`HOME/.kube/config`)\n  = help: did you mean `prod`?\n',
    ],
    [
      'context use https://127.0.0.1:9',
      1,
      'error: the platform `https://127.0.0.1:9` does not answer: connect ECONNREFUSED 127.0.0.1:9\n  = help: is the address right, and can it be reached from here?\n',
    ],
    [
      'context use http://platform.example.com',
      2,
      'error: `http://platform.example.com` is not encrypted\n  = help: write `https://platform.example.com`\n',
    ],
    [
      'context use https://platform.example.com/login',
      2,
      'error: `https://platform.example.com/login` has a path\n  = help: write `https://platform.example.com`\n',
    ],
    [
      'context use prod --token hunter2',
      2,
      'error: `--token` is for platforms\n  = help: leave it out: `prod` is a context of the kubeconfig, which has its credentials\n',
    ],
    ['namespace', 2, 'error: which namespace?\n  = help: set it with `devctl namespace use NAME`\n'],
    [
      'namespace list',
      1,
      'error: `devctl namespace list` needs a platform; `kind-dev` is a context of the kubeconfig\n  = help: `kubectl --context kind-dev get namespaces` lists them, and `devctl namespace use NAME` chooses one\n',
    ],
    [
      'namespace create web',
      1,
      'error: `devctl namespace create` needs a platform; `kind-dev` is a context of the kubeconfig\n  = help: `kubectl --context kind-dev create namespace web` creates it, and `devctl namespace use web` switches to it\n',
    ],
    [
      'namespace delete web',
      1,
      'error: `devctl namespace delete` needs a platform; `kind-dev` is a context of the kubeconfig\n  = help: `devctl destroy --namespace web` deletes an environment; `kubectl --context kind-dev delete namespace web` deletes the whole namespace\n',
    ],
  ])('`devctl %s` ends with status %i, writes nothing and says what to do', async (line, status, stderr) => {
    const { folder, devctl } = laptop()
    expect(await devctl(line)).toEqual({ status, stdout: '', stderr: stderr.replace('HOME', folder) })
    expect(Object.keys(read(folder))).toEqual(['.kube/config'])
  })

  test('each command says what to do if there is no context at all', async () => {
    const env = { HOME: makeFolder() }
    for (const line of ['context', 'context list', 'context show', 'deploy', 'namespace use web', 'kubeconfig']) {
      const { status, stdout, stderr } = await run(line.split(' '), { cwd: env.HOME, env })
      expect({ status: status > 0, stdout }, line).toEqual({ status: true, stdout: '' })
      expect(stderr, line).toContain('`KUBECONFIG`')
    }
    expect((await run(['context', 'list', '-o', 'json'], { cwd: env.HOME, env })).stdout).toBe('[]\n')
  })
})

test('devctl context use stores a domain and a registry, and `-` deletes the domain', async () => {
  const { devctl } = laptop()
  const shown = async () => JSON.parse((await devctl('context show')).stdout)
  await devctl('context use prod --domain dev.example.com --registry registry.example.com/team')
  expect(await shown()).toMatchObject({ domain: 'dev.example.com', registry: 'registry.example.com/team' })
  await devctl('context use prod --domain -')
  expect(await shown()).toMatchObject({ domain: '-', registry: 'registry.example.com/team' })
  expect(await devctl('context use prod --domain https://x')).toMatchObject({ status: 2, stdout: '' })
  expect(await devctl('context use prod --registry A/B')).toMatchObject({ status: 2, stdout: '' })
})

describe('devctl context use --builder', () => {
  test.each([
    'tcp://10.0.0.1:1234',
    'buildkit.example.com:1234',
    'localhost:1234',
    '[::1]:1234',
    'tls://buildkit.example.com:1234',
    'https://buildkit.example.com',
    'unix:///run/buildkit/buildkitd.sock',
    'docker',
  ])('`--builder` stores %s, and `-` deletes it', async address => {
    const { folder, devctl } = laptop()
    const builder = async () => JSON.parse((await devctl('context show')).stdout).builder
    expect(await devctl(`context use prod --builder ${address}`)).toMatchObject({ status: 0, stderr: '' })
    expect(await builder()).toBe(address)
    expect(await devctl('context use prod --builder -')).toMatchObject({ status: 0, stderr: '' })
    expect(await builder()).toBe('docker')
    expect(JSON.parse(read(folder)['devctl/contexts.json']!).contexts).toEqual({ prod: {} })
  })

  test.each(['ftp://x:1', 'unix://socket', 'tcp://', 'tcp://x:99999', 'tcp://user@x:1', 'dcoker', 'platform'])(
    '`--builder` refuses %s',
    async address => {
      const { folder, devctl } = laptop()
      const { status, stderr } = await devctl(`context use prod --builder ${address}`)
      expect(status).toBe(2)
      expect(stderr).toBe(
        `error: \`--builder\` is \`${address}\`\n  = help: write \`tcp://HOST:PORT\`, \`tls://HOST:PORT\`, \`https://HOST\`, \`unix:///PATH\` or \`docker\`; \`-\` removes the setting\n`,
      )
      expect(Object.keys(read(folder))).toEqual(['.kube/config'])
    },
  )
})

test('devctl namespace use sets the namespace of the context that is current', async () => {
  const { devctl } = laptop()
  expect(await devctl('namespace use web')).toEqual(ok('Using context web @ kind-dev\n'))
  expect(JSON.parse((await devctl('context show')).stdout)).toMatchObject({ name: 'kind-dev', namespace: 'web' })
  expect(await devctl('context use prod')).toEqual(ok('Using context default @ prod\n'))
  expect(await devctl('namespace use other')).toEqual(ok('Using context other @ prod\n'))
  expect(await devctl('context use kind-dev')).toEqual(ok('Using context web @ kind-dev\n'))
  expect(await devctl('namespace use Web')).toMatchObject({ status: 2, stdout: '' })
})

test('devctl kubeconfig sets the context of kubectl, and changes nothing else in the files', async () => {
  const { folder, devctl } = laptop()
  const file = join(folder, '.kube/config')
  const text = [
    '# of the team',
    'kind: Config',
    'contexts:',
    '- name: kind-dev',
    '  context: {cluster: c, user: u}',
    '- name: prod # careful',
    '  context:',
    '    cluster: c',
    '    user: u',
    'current-context: kind-dev\n',
  ].join('\n')
  writeFileSync(file, text)
  chmodSync(file, 0o600)
  await devctl('context use prod --namespace web')
  expect(await devctl('kubeconfig')).toEqual(ok(`Updated Kubernetes context 'prod', namespace 'web', in '${file}'\n`))
  expect(read(folder)['.kube/config']).toBe(
    text
      .replace('user: u\ncurrent', 'user: u\n    namespace: web\ncurrent')
      .replace('current-context: kind-dev', 'current-context: prod'),
  )
  expect(statSync(file).mode & 0o777).toBe(0o600)

  writeFileSync(join(folder, 'second'), kubeconfigWith({ other: 'x' }))
  const env = { KUBECONFIG: `.kube/config:second`, DEVCTL_CONTEXT: 'other' }
  expect(await devctl('kubeconfig', env)).toEqual(
    ok(`Updated Kubernetes context 'other', namespace 'x', in '${join(folder, 'second')}', '${file}'\n`),
  )
  expect(read(folder)['.kube/config']).toContain('current-context: other')
})

describe('contexts on a terminal', () => {
  /** Runs a command line on a terminal, where `choose` and `ask` answer the questions. */
  async function asked(line: string, folder: string, choose: Choose, ask?: Io['ask']) {
    let [stdout, stderr] = ['', '']
    const status = await main(line.split(' '), {
      stdout: { isTTY: true, write: text => (stdout += text) },
      stderr: { isTTY: true, write: text => (stderr += text) },
      readStdin: async () => new Uint8Array(),
      env: { HOME: folder },
      cwd: folder,
      choose,
      ...(ask && { ask }),
    })
    return { status, stdout, stderr }
  }

  test('devctl context asks which one to use', async () => {
    const { folder } = laptop()
    let offered: readonly PromptAnswer[] = []
    const result = await asked('context --namespace web', folder, async (_, answers) => {
      offered = answers
      return 'prod'
    })
    expect(result).toEqual(ok('Using context web @ prod\n'))
    expect(offered).toEqual([
      { value: 'kind-dev', label: 'kind-dev (shop) *', isPreset: true },
      { value: 'prod', label: 'prod (default)', isPreset: false },
      { value: '', label: 'a platform, by its address' },
    ])
  })

  test.each([
    ['https://127.0.0.1:9', 1, 'error: the platform `https://127.0.0.1:9` does not answer'],
    [' 127.0.0.1:9 ', 1, 'error: the platform `https://127.0.0.1:9` does not answer'],
    ['http://platform.example.com', 2, 'error: `http://platform.example.com` is not encrypted'],
    ['', 2, 'error: the address of a platform is like `https://platform.example.com`'],
    [undefined, 130, ''],
  ])('devctl context asks for the address of a platform: %s', async (typed, status, said) => {
    const { folder } = laptop()
    const questions: string[] = []
    const result = await asked(
      'context',
      folder,
      async () => '',
      async question => {
        questions.push(question)
        return typed
      },
    )
    expect(result).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(said) })
    expect(questions).toEqual(['Address of the platform, such as https://platform.example.com'])
  })

  test('devctl context offers a platform if there is no context', async () => {
    const folder = makeFolder()
    let offered: readonly PromptAnswer[] = []
    await asked('context', folder, async (_, answers) => {
      offered = answers
      return undefined
    })
    expect(offered).toEqual([
      { value: 'none', label: 'a context of the kubeconfig', disabled: 'it has none' },
      { value: '', label: 'a platform, by its address' },
    ])
  })

  test('a canceled question changes nothing, and ends with status 130', async () => {
    const { folder } = laptop()
    expect(await asked('context', folder, async () => undefined)).toEqual({ status: 130, stdout: '', stderr: '' })
    expect(Object.keys(read(folder))).toEqual(['.kube/config'])
  })

  /** A terminal whose keys are pressed one after another, each when the screen has changed. */
  function keyboard(...keys: readonly string[]) {
    const input = new PassThrough()
    const output = new PassThrough()
    const left = [...keys]
    let screen = ''
    output.on('data', part => {
      screen += part
      // Each drawing ends by moving the cursor to its position.
      const key = screen.includes('Which?') ? left.shift() : undefined
      if (key !== undefined) setImmediate(() => input.write(key))
    })
    return { terminal: { input, output }, screen: () => screen }
  }

  test('the arrow keys move through the list, and a disabled answer cannot be chosen', async () => {
    const { terminal, screen } = keyboard('\u001b[B', '\r', '\u001b[B', '\r')
    const answers = [
      { value: 'a', isPreset: true },
      { value: 'b', disabled: 'not yet' },
      { value: 'c', label: 'see \u001b[31m' },
    ]
    expect(await chooseOne(terminal, 'Which?', answers)).toBe('c')
    expect(screen()).toContain('Which?')
    expect(screen()).toContain('b (not yet)')
    expect(screen()).toContain('see \\u{1b}[31m')
  })

  test('Ctrl-C cancels the question', async () => {
    const { terminal } = keyboard('\u0003')
    expect(await chooseOne(terminal, 'Which?', [{ value: 'a' }])).toBe(undefined)
  })

  test('an aborted question is erased from the terminal', async () => {
    const { terminal, screen } = keyboard()
    const asked = new AbortController()
    const end = { signal: asked.signal, isErased: true }
    const answer = chooseOne(terminal, 'Which?', [{ value: 'a' }], end)
    await expect.poll(screen).toContain('Which?')
    asked.abort()
    expect(await answer).toBe(undefined)
    // The lines are erased.
    expect(screen().slice(screen().lastIndexOf('Which?'))).toMatch(/\u001b\[2K/)
    expect(await chooseOne(terminal, 'Which?', [{ value: 'a' }], { signal: AbortSignal.abort() })).toBe(undefined)
  })
})

test('toTable aligns columns by their width on a screen', () => {
  expect(
    toTable([
      ['Name', 'B'],
      ['日本', 'x'],
      ['a\u001b', ''],
    ]),
  ).toBe('Name     B\n日本     x\na\\u{1b}\n')
})

test('context use warns of a namespace that the cluster does not have, and only of that', async () => {
  const answers: Readonly<Record<string, number>> = { shop: 200, hidden: 403, broken: 500 }
  const server = createServer((request, response) => {
    const name = request.url!.replace(/^\/api\/v1\/namespaces\/|\?.*/g, '')
    const code = answers[name] ?? 404
    response.writeHead(code, { 'content-type': 'application/json' })
    const status = { apiVersion: 'v1', kind: 'Status', code, reason: code === 404 ? 'NotFound' : 'Forbidden' }
    const found = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    response.end(JSON.stringify(code === 200 ? found : status))
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const config = {
    'current-context': 'dev',
    contexts: [{ name: 'dev', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } }],
    users: [{ name: 'u', user: {} }],
  }
  const cwd = makeFolder({ '.kube/config': JSON.stringify(config) })
  const use = (namespace: string) =>
    run(['context', 'use', 'dev', '--namespace', namespace], { cwd, env: { HOME: cwd, DEVCTL_HOME: 'devctl' } })
  expect(await use('shpo')).toEqual({
    status: 0,
    stdout: 'Using context shpo @ dev\n',
    stderr:
      'warning: namespace `shpo` does not exist in `dev`\n  = help: `devctl deploy --create-namespace` creates it; if it is a typo, run `devctl context use` again\n',
  })
  for (const name of ['shop', 'hidden']) expect(await use(name)).toEqual(ok(`Using context ${name} @ dev\n`))
})
