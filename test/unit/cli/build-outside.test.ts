import { symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

/** Creates a checkout, and files beside it that do not belong to it. */
const folder = () =>
  makeFolder({
    'app/.git/HEAD': 'ref: refs/heads/main\n',
    'app/Dockerfile': 'FROM busybox:1.37\n',
    'private/Dockerfile': 'FROM busybox:1.37\n',
    'private/key': 'a key\n',
  })

/** Address where nothing listens; an error that does not name it comes from before the builder is asked. */
const env = { BUILDKIT_HOST: 'tcp://127.0.0.1:9', CI: '1' }

describe('files outside the project', () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['the context', { 'compose.yaml': 'services: {web: {build: ../private}}\n' }, []],
    ['the context, with --tag', { 'compose.yaml': 'services: {web: {build: ../private}}\n' }, ['--tag', '1']],
    [
      'the context of an image that has a name',
      { 'compose.yaml': 'services: {web: {image: "127.0.0.1:9/web:1", build: ../private}}\n' },
      [],
    ],
    [
      'an additional context',
      {
        'compose.yaml':
          'services: {web: {image: "127.0.0.1:9/web:1", build: {context: ., additional_contexts: {a: ../private}}}}\n',
      },
      [],
    ],
    [
      'the Dockerfile',
      {
        'compose.yaml':
          'services: {web: {image: "127.0.0.1:9/web:1", build: {context: ., dockerfile: ../private/Dockerfile}}}\n',
      },
      [],
    ],
    [
      'the context of an image of the manifest',
      { 'devctl.yml': 'build:\n  web: {context: ../private}\ndeploy: [echo]\n' },
      [],
    ],
    [
      'a secret of an image of the manifest',
      { 'devctl.yml': 'build:\n  web: {context: ., secrets: {key: ../private/key}}\ndeploy: [echo]\n' },
      [],
    ],
    ...[
      ['a secret', 'secrets: [k]', ''],
      ['a secret that is not there yet', 'secrets: [later]', ''],
      ['a secret of the system', 'secrets: [environ]', ''],
      ['a secret in a link', 'secrets: [link]', ''],
      ['an SSH key', 'ssh: ["deploy=../private/key"]', ''],
      ['the second of several SSH keys', 'ssh: ["deploy=own,../private/key"]', ''],
      ['the socket of an agent', 'ssh: ["default=/run/ssh-agent"]', ''],
      ['a folder of a cache to import', 'cache_from: ["type=local,src=../private"]', ''],
      ['a folder of a cache to export', 'cache_to: ["type=local,dest=../private/new"]', ''],
    ].map(([name, key]): [string, Readonly<Record<string, string>>, readonly string[]] => [
      name!,
      {
        own: '',
        'compose.yaml': `services: {web: {build: {context: ., ${key}}}}
secrets:
  k: {file: ../private/key}
  later: {file: ../private/later}
  environ: {file: /proc/self/environ}
  link: {file: ./link}
`,
      },
      [],
    ]),
    [
      'the folder of a cache of an image of the manifest',
      { 'devctl.yml': 'build:\n  web: {context: ., cache_from: "type=local,src=../private"}\ndeploy: [echo]\n' },
      [],
    ],
    [
      'the folder to which an image of the manifest exports its cache',
      { 'devctl.yml': 'build:\n  web: {context: ., export_cache: "type=local,dest=../private"}\ndeploy: [echo]\n' },
      [],
    ],
  ])('`build` sends nothing from outside the project: %s', async (_, files, args) => {
    const cwd = folder()
    write(join(cwd, 'app'), files)
    symlinkSync('../private/key', join(cwd, 'app/link'))
    const { status, stderr } = await run(['build', '--registry', '127.0.0.1:9', ...args], {
      cwd: join(cwd, 'app'),
      env,
    })
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('error[files/outside]') })
    expect(stderr).not.toContain('no connection')
  })
})

const SECRET = 'services: {web: {build: {context: ., secrets: [k]}}}\nsecrets: {k: {file: FILE}}\n'

/** Returns the error output of `build` for a secret in a file, while no builder is reachable. */
async function buildWith(file: string, args: readonly string[], variables: Readonly<Record<string, string>>) {
  const cwd = folder()
  write(join(cwd, 'app'), { 'compose.yaml': SECRET.replace('FILE', file) })
  const options = { cwd: join(cwd, 'app'), env: { BUILDKIT_HOST: env.BUILDKIT_HOST, ...variables } }
  return (await run(['build', '--registry', '127.0.0.1:9', ...args], options)).stderr
}

test('secrets outside the project are read with a warning if CI is not set, except system files', async () => {
  const read = await buildWith('../private/key', [], {})
  expect(read).toContain('warning[files/outside-read]')
  expect(read).toContain('no connection')
  expect(await buildWith('/proc/self/environ', [], {})).toContain('error[files/outside]')
})

test('`--allow-outside` allows secrets outside the project', async () => {
  const allowed = await buildWith('../private/key', ['--allow-outside'], { CI: '1' })
  expect(allowed).not.toContain('files/outside')
  expect(allowed).toContain('no connection')
})

test.each([
  [{ CI: '1' }, 'error[files/outside]', 'is outside the project and is not written'],
  [{}, 'warning[files/outside-read]', 'is outside the project; it is written anyway'],
])('the message says that the folder of an exported cache is written, not read', async (variables, code, message) => {
  const cwd = folder()
  write(join(cwd, 'app'), {
    'compose.yaml': 'services: {web: {build: {context: ., cache_to: ["type=local,dest=../private/new"]}}}\n',
  })
  const options = { cwd: join(cwd, 'app'), env: { BUILDKIT_HOST: env.BUILDKIT_HOST, ...variables } }
  const { stderr } = await run(['build', '--registry', '127.0.0.1:9'], options)
  expect(stderr).toContain(code)
  expect(stderr).toContain(message)
})

test.each([[''], ['=AGENT']])('the agent of the user may be outside the project: `ssh: default%s`', async path => {
  const cwd = folder()
  const agent = join(cwd, 'private/agent')
  const server = createServer().listen(agent)
  try {
    const ssh = `default${path.replace('AGENT', agent)}`
    write(join(cwd, 'app'), { 'compose.yaml': `services: {web: {build: {context: ., ssh: ["${ssh}"]}}}\n` })
    const { stderr } = await run(['build', '--registry', '127.0.0.1:9'], {
      cwd: join(cwd, 'app'),
      env: { ...env, SSH_AUTH_SOCK: agent },
    })
    expect(stderr).not.toContain('files/outside')
    expect(stderr).toContain('no connection')
  } finally {
    server.close()
  }
})
