import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

/** Address where nothing listens. */
const NOWHERE = { BUILDKIT_HOST: 'tcp://127.0.0.1:9', CI: '1' }

const build = (
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = NOWHERE,
) => run(['build', ...args], { cwd: makeFolder({ '.git/HEAD': 'ref: refs/heads/main\n', ...files }), env })

const TARGET = {
  'compose.yaml': 'services:\n  web:\n    build:\n      context: .\n      target: nope\n',
  Dockerfile: 'FROM scratch AS one\n',
}

test('a wrong `target` is one error at `target`, before a builder is asked', async () => {
  const { status, stderr } = await build(TARGET, ['--push=false'])
  expect(status).toBe(1)
  expect(stderr).toContain('error[build/unknown-target]: the Dockerfile has no stage `nope`\n  --> compose.yaml:5:15')
  expect(stderr).not.toMatch(/warning|no connection/)
})

test('`--target` replaces the target in the file', async () => {
  const { stderr } = await build(TARGET, ['--push=false', '--target', 'one'])
  expect(stderr).not.toContain('nope')
  expect(stderr).toContain('no connection')
})

const WEB = { 'compose.yaml': 'services: {web: {build: .}}\n', Dockerfile: 'FROM scratch\n' }

test('the error names the variable that chose a Docker Engine', async () => {
  const { stderr } = await build(WEB, ['--push=false'], { DOCKER_HOST: 'unix:///nothing/here.sock', CI: '1' })
  expect(stderr).toContain(
    'no connection to the Docker Engine at `unix:///nothing/here.sock`: the socket does not exist',
  )
  expect(stderr).toContain('the builder is the Docker Engine of `DOCKER_HOST`')
})

test('the error about an invalid address names its variable and all valid forms', async () => {
  const { stderr } = await build(WEB, ['--push=false'], { BUILDKIT_HOST: 'foo://x', CI: '1' })
  expect(stderr).toContain('the builder is that of `BUILDKIT_HOST`')
  for (const form of ['tcp://', 'tls://', 'https://', 'unix://']) expect(stderr).toContain(form)
})

test('images with one name that differ in a secret argument are refused, without the values', async () => {
  const service = (value: string) =>
    `{image: "127.0.0.1:9/team/app:1", build: {context: ., args: {API_TOKEN: ${value}}}}`
  const files = (one: string, other: string) => ({
    'compose.yaml': `services:\n  web: ${service(one)}\n  worker: ${service(other)}\n`,
    Dockerfile: 'FROM scratch\nARG API_TOKEN\n',
  })
  const refused = await build(files('hunter-one', 'hunter-two'))
  expect(refused.stderr).toContain('error[image/same-name]')
  expect(refused.stderr).not.toMatch(/hunter|no connection/)
  expect((await build(files('hunter-one', 'hunter-one'))).stderr).toContain('no connection')
})

test('remarks about the images of services that are not named are left out', async () => {
  const files = {
    'compose.yaml': `services:
  web: {image: "127.0.0.1:9/team/web:1", build: {context: web, args: {OF_WEB: a}}}
  worker:
    image: 127.0.0.1:9/team/worker:1
    pull_policy: daily
    build: {context: worker, args: {OF_WORKER: a}, additional_contexts: {base: "service:base"}}
  base: {image: "127.0.0.1:9/team/base:1", build: {context: web, args: {OF_BASE: a}}}
`,
    'web/Dockerfile': 'FROM scratch\n',
    'worker/Dockerfile': 'FROM base\n',
  }
  const remarks = async (...services: readonly string[]) => {
    const { stderr } = await build(files, services)
    expect(stderr).toContain('no connection')
    return [...new Set([...stderr.matchAll(/OF_[A-Z]+(?=`)|daily(?=`)/g)].map(([found]) => found))].sort()
  }
  expect(await remarks()).toEqual(['OF_BASE', 'OF_WEB', 'OF_WORKER', 'daily'])
  expect(await remarks('web')).toEqual(['OF_WEB'])
  // The image that `worker` builds on is built, too.
  expect(await remarks('worker')).toEqual(['OF_BASE', 'OF_WORKER', 'daily'])
})

test('images to which `--tag` does not apply are reported in one line', async () => {
  const files = {
    'compose.yaml':
      'services: {web: {build: .}, api: {image: "127.0.0.1:9/team/api:1", build: .}, db: {image: "postgres:17"}}\n',
    Dockerfile: 'FROM scratch\n',
  }
  const args = ['--registry', '127.0.0.1:9', '--tag', '1.4']
  const line = '`--tag` does not apply to `api`: `image:` has the whole name\n'
  expect((await build(files, args)).stderr).toContain(line)
  expect((await build(files, ['web', ...args])).stderr).not.toContain('does not apply')
  expect((await build(files, args.slice(0, 2))).stderr).not.toContain('does not apply')
})

describe('SSH keys that cannot be used', () => {
  const withSsh = (entry: string) => ({
    'compose.yaml': `services:\n  web:\n    build:\n      context: .\n      ssh:\n        - ${entry}\n`,
    Dockerfile: 'FROM scratch\n',
    one: 'no key\n',
  })
  test.each([
    ['a file that does not exist', 'deploy=keys/none', 'keys/none`: ', 11],
    ['the second of several', 'deploy=one,keys/none', 'keys/none`: ', 11],
    ['a folder', 'deploy=.', '`: it is a folder', 11],
    ['what is not a key', 'deploy=one', 'one`: ', 11],
    ['the agent, which does not run', 'default', 'uses the SSH agent `default`, and `SSH_AUTH_SOCK` is not set', 11],
  ])('an unusable SSH key is an error at its place, before a builder is asked: %s', async (_, entry, words, column) => {
    const { status, stderr } = await build(withSsh(entry), ['--push=false'], { ...NOWHERE, SSH_AUTH_SOCK: '' })
    expect(status).toBe(1)
    expect(stderr).toContain('error[build/ssh-key-not-available]')
    expect(stderr).toContain(words)
    expect(stderr).toContain(`--> compose.yaml:6:${column}`)
    expect(stderr).not.toContain('no connection')
  })
})

describe('options of other builders', () => {
  test.each([
    ['--ssh', '`ssh` of `build`'],
    ['--cache-to', '`--export-cache IMAGE`'],
    ['--label', '`labels` of `build`'],
    ['--load', 'a Docker Engine also keeps'],
    ['--check', '`--push=false`'],
    ['--print', '`devctl config`'],
  ])('the error about %s says what devctl has instead', async (option, hint) => {
    const { status, stderr } = await build(WEB, [option, 'x'])
    expect(status).toBe(2)
    expect(stderr).toContain(`error: unknown option \`${option}\`\n  = help: `)
    expect(stderr).toContain(hint)
    expect(stderr).not.toContain('did you mean')
  })

  test('`--push` alone is true, and the option after it is not its value', async () => {
    const { stderr } = await build(WEB, ['--push', '--tag', 'v1'])
    expect(stderr).toContain('error[image/not-built]')
  })
})

describe('`--export-cache` of several images', () => {
  const two = {
    'compose.yaml': `services:
  base: {build: {context: ., args: {A: base}}}
  web: {build: {context: ., additional_contexts: {base: "service:base"}}}
`,
    Dockerfile: 'FROM scratch\nARG A\n',
  }
  const words = ['--registry', '127.0.0.1:9', '--export-cache', 'r.example.com/cache:1']

  test.each([[[]], [['base', 'web']]])('`--export-cache` is refused for the services %j', async services => {
    const { status, stderr } = await build(two, [...services, ...words])
    expect(stderr).toBe(
      'error: `--export-cache` is for one image, and would be for those of `base`, `web`\n  = help: each would replace the cache of the others: name one service, or write `export_cache` into the `build` of each\n',
    )
    expect(status).toBe(2)
  })

  test.each([
    ['one service, with those that it is built on', two, ['web']],
    ['the only one', WEB, []],
    [
      'services with the same image',
      {
        ...WEB,
        'compose.yaml':
          'services: {web: {build: ., image: "127.0.0.1:9/a:1"}, api: {build: ., image: "127.0.0.1:9/a:1"}}\n',
      },
      [],
    ],
  ])('`--export-cache` is accepted for %s', async (_, files, services) => {
    const { status, stderr } = await build(files, [...services, ...words, '--push=false'])
    expect(stderr).toContain('no connection to BuildKit')
    expect(status).toBe(1)
  })
})

test('`build` without a registry suggests only its own options', async () => {
  const { stderr } = await build(WEB)
  expect(stderr).toContain('error[image/not-built]')
  for (const one of ['--registry', 'DEVCTL_REGISTRY', 'devctl.yml', 'devctl context use']) expect(stderr).toContain(one)
  expect(stderr).not.toContain('--image ')
})

test('a registry in capitals is refused on the command line', async () => {
  const { status, stderr } = await build(WEB, ['--registry', 'UPPER/x'])
  expect(status).toBe(2)
  expect(stderr).toContain('error: `--registry` is `UPPER/x`')
})

test('a service without `build` is refused with the service that builds its image', async () => {
  const compose = `services:
  api: {build: ., image: "127.0.0.1:9/team/api:1"}
  worker: {image: "127.0.0.1:9/team/api:1"}
`
  const { stderr } = await build({ ...WEB, 'compose.yaml': compose }, ['worker'])
  expect(stderr).toContain('service `worker` has no `build`: its image is that of `api`')
  expect(stderr).toContain('`devctl build api` builds it')
})

test('`--loglevel info` shows the origin of the registry', async () => {
  const { stderr } = await build(WEB, ['--loglevel', 'info'], { ...NOWHERE, DEVCTL_REGISTRY: '127.0.0.1:9/team' })
  expect(stderr).toContain('images are pushed to 127.0.0.1:9/team, chosen by `DEVCTL_REGISTRY`')
})

test.each([
  ['--profile', 'x'],
  ['--environment', 'staging'],
  ['--registry', '127.0.0.1:9'],
])('the build of a Dockerfile refuses %s, which has no effect', async (option, value) => {
  const { status, stderr } = await build(WEB, ['-f', 'Dockerfile', option, value])
  expect(status).toBe(2)
  expect(stderr).toContain(`\`${option}\` has no effect on the build of a Dockerfile`)
})
