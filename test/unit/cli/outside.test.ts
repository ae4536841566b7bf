import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const MARK = 'stranger-4711'
const SECRET = `A=${MARK}\nB="${MARK}\n`

/**
 * Creates a project in `project`, next to files of another user: some that are read without a mistake, and some with
 * mistakes in them.
 */
function place(compose: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = makeFolder({
    'stranger/good.env': `A=${MARK}\n`,
    'stranger/bad.env': SECRET,
    'stranger/bad.yaml': `services: [${MARK}\n`,
    'stranger/good.yaml': `services: {web: {labels: {a: ${MARK}}}}\n`,
    'stranger/Dockerfile': `FROM x\nEXPOSE ${MARK}\n`,
  })
  write(folder, { 'project/.git/HEAD': 'ref: refs/heads/main\n', 'project/app/compose.yaml': compose })
  write(join(folder, 'project/app'), files)
  return join(folder, 'project/app')
}

const render = (cwd: string, env: Readonly<Record<string, string>>, ...words: string[]) =>
  run(['render', '--include-secrets', '--namespace', 'shop', '--registry', 'r.example', ...words], { cwd, env })

const web = 'name: shop\nservices:\n  web:\n    image: nginx\n'

test('`.env` beside the folder `.devctl` of a manifest is part of the project, also outside of a repository', async () => {
  const folder = makeFolder({
    'compose.yaml': web.replace('name: shop\n', ''),
    '.devctl/devctl.yml': 'name: shop-${A}\n',
    '.env': 'A=one\n',
  })
  const { status, stdout, stderr } = await render(folder, { CI: 'true' })
  expect({ status, stderr }).toMatchObject({ status: 0, stderr: expect.not.stringContaining('outside') })
  expect(stdout).toContain('dev.platform/environment: shop-one\n')
})

describe('a file outside of the project', () => {
  const ways: Readonly<Record<string, (folder: string) => string>> = {
    env_file: () => `${web}    env_file: ../../stranger/good.env\n`,
    'env_file, with a mistake in it': () => `${web}    env_file: ../../stranger/bad.env\n`,
    'env_file that need not be there': () => `${web}    env_file: [{path: ../../stranger/good.env, required: false}]\n`,
    label_file: () => `${web}    label_file: ../../stranger/good.env\n`,
    'a config': () => `${web}    configs: [c]\nconfigs: {c: {file: ../../stranger/good.env}}\n`,
    'a secret': () => `${web}    secrets: [c]\nsecrets: {c: {file: ../../stranger/good.env}}\n`,
    include: () => `include: [../../stranger/good.yaml]\n${web}`,
    'include, with a mistake in it': () => `include: [../../stranger/bad.yaml]\n${web}`,
    'the env_file of an include': () => `include: [{path: part.yaml, env_file: ../../stranger/good.env}]\n${web}`,
    extends: () => `${web}    extends: {file: ../../stranger/good.yaml, service: web}\n`,
    'a build context': () => 'name: shop\nservices: {web: {build: ../../stranger}}\n',
    'a Dockerfile': () => 'name: shop\nservices: {web: {build: {context: ., dockerfile: ../../stranger/Dockerfile}}}\n',
    'a host volume': () => `${web}    volumes: ["../../stranger:/data:ro"]\n`,
    'a link': folder => {
      symlinkSync('../../stranger/good.env', join(folder, 'linked.env'))
      return `${web}    env_file: linked.env\n`
    },
    'a link among links': folder => {
      symlinkSync('../../stranger', join(folder, 'a'))
      symlinkSync('a/good.env', join(folder, 'b'))
      return `${web}    env_file: b\n`
    },
    'a link over the parent of a linked folder': folder => {
      write(folder, { '../../stranger/inner/x': 'x\n', 'good.env': 'A=own\n' })
      symlinkSync('../../stranger/inner', join(folder, 'd'))
      symlinkSync('d/../good.env', join(folder, 'b'))
      return `${web}    configs: [c]\nconfigs: {c: {file: ./b}}\n`
    },
    'a link over a missing part of its text': folder => {
      write(folder, { '../../stranger/inner/x': 'x\n' })
      symlinkSync('../../stranger/inner', join(folder, 'd'))
      symlinkSync('d/../good.env', join(folder, 'b'))
      return `${web}    env_file: b\n`
    },
    'a link in a host volume': folder => {
      write(folder, { 'conf/own': 'x\n' })
      symlinkSync('../../../stranger/good.env', join(folder, 'conf/linked'))
      return `${web}    volumes: ["./conf:/data:ro"]\n`
    },
    'a folder in a host volume': folder => {
      write(folder, { 'conf/own': 'x\n' })
      symlinkSync('../../../stranger', join(folder, 'conf/linked'))
      return `${web}    volumes: ["./conf:/data:ro"]\n`
    },
    '.env': folder => {
      symlinkSync('../../stranger/good.env', join(folder, '.env'))
      return `${web}    command: ["\${A}"]\n`
    },
    'COMPOSE_FILE of .env': folder => {
      write(folder, { '.env': 'COMPOSE_FILE=../../stranger/bad.yaml\n' })
      return web
    },
  }

  test.each(Object.entries(ways))(
    'a file outside the project is refused in CI, and read with a warning elsewhere: %s',
    async (_, make) => {
      const folder = place('', { 'part.yaml': web })
      write(folder, { 'compose.yaml': make(folder) })
      const refused = await render(folder, { CI: 'true' })
      expect(refused).toMatchObject({ status: 1, stdout: '' })
      expect(refused.stderr).toMatch(/error\[files\/outside\]: `\S*stranger\S*` is outside the project and is not read/)
      expect(refused.stderr).not.toContain(MARK)

      const read = await render(folder, {})
      expect(read.stderr).toMatch(/warning\[files\/outside-read\]: `\S*stranger\S*`/)
      expect(read.stderr).not.toContain(MARK)

      const allowed = await render(folder, { CI: 'true' }, '--allow-outside')
      expect(allowed.stderr).not.toContain('files/outside')
      expect(allowed.stderr).not.toContain('its content is not shown')

      const listed = await render(folder, { CI: 'true', DEVCTL_ALLOW_OUTSIDE: join(folder, '../../stranger') })
      expect(listed.stderr).not.toContain('files/outside')
    },
  )

  test('the mistakes of a file outside the project are shown to a user who allows it', async () => {
    const folder = place(`include: [../../stranger/bad.yaml]\n${web}`)
    const { status, stderr } = await render(folder, { CI: 'true' }, '--allow-outside')
    expect(status).toBe(1)
    expect(stderr).toContain(`services: [${MARK}`)
  })

  test('a folder outside is reported once, and a link in it only if it leads elsewhere', async () => {
    const folder = place('', {})
    write(folder, { '../../stranger/inner/x': 'x\n', '../../stranger/inner/deep/y': 'y\n' })
    symlinkSync('../good.env', join(folder, '../../stranger/inner/link'))
    write(folder, { 'compose.yaml': `${web}    volumes: ["../../stranger/inner:/a:ro"]\n` })
    const { stderr } = await render(folder, {})
    const told = [...stderr.matchAll(/`\S*\/stranger\/(\S*)` is /g)]
    expect(told.map(([, path]) => path)).toEqual(['inner', 'good.env'])
  })

  test.each(['/proc/self/environ', '/sys/kernel/notes', '/dev/zero', '/proc/self/cwd/compose.yaml'])(
    '%s is refused everywhere',
    async path => {
      const folder = place(`${web}    configs: [c]\nconfigs: {c: {file: ${path}}}\n`)
      const { status, stderr } = await render(folder, {})
      expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining('error[files/outside]') })
    },
  )

  test('a file of the system is refused behind a link whose text hides it', async () => {
    const folder = place(`${web}    configs: [c]\nconfigs: {c: {file: ./l}}\n`)
    symlinkSync('/dev/fd/../environ', join(folder, 'l'))
    expect(await render(folder, {})).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining('error[files/outside]'),
    })
  })

  test.each([
    ['is the choice of who names it with -f', ['-f', '../../stranger/good.yaml', '-f', 'compose.yaml']],
    ['is the choice of who names it with --env-file', ['--env-file', '../../stranger/good.env']],
  ])('a file outside the project %s', async (_, words) => {
    const { status, stderr } = await render(place(web), { CI: 'true' }, ...words)
    expect(status, stderr).toBe(0)
    expect(stderr).not.toContain('files/outside')
  })

  test('a file outside is read for a manifest that is in no checkout', async () => {
    const folder = place(web)
    write(folder, {
      '../../deploy/devctl.yml': 'name: shop\ndeploy: {compose: ../project/app/compose.yaml}\n',
      'compose.yaml': `${web}    env_file: ../own.env\n`,
      '../own.env': 'A=b\n',
    })
    const { status, stderr } = await render(folder, { CI: 'true' }, '-f', '../../deploy/devctl.yml')
    expect(status, stderr).toBe(0)
  })

  test('a file in the repository around the folder is not outside the project', async () => {
    const folder = place(`${web}    env_file: ../own.env\n`, { '../own.env': 'A=b\n' })
    expect(await render(folder, { CI: 'true' })).toMatchObject({ status: 0 })
  })

  test('a certificate for sealed Secrets is checked like any file outside the project', async () => {
    const folder = place(`${web}    environment: {A_PASSWORD: "\${A_PASSWORD}"}\n`)
    write(folder, {
      '../../stranger/cert.pem': `-----BEGIN ${MARK}`,
      'devctl.yml': `name: shop
environments:
  staging:
    namespace: shop
    repository: https://git.example.com/deploy.git
    secrets: {backend: sealed, certificate: ../../stranger/cert.pem}
`,
    })
    const words = ['validate', '--for-repository', '--environment', 'staging']
    const refused = await run(words, { cwd: folder, env: { CI: 'true' } })
    expect(refused.status).toBe(1)
    expect(refused.stderr + refused.stdout).toMatch(
      /error\[files\/outside\]: `\S*cert\.pem` is outside the project.*\n\s+--> devctl\.yml:6:/,
    )
    const read = await run(words, { cwd: folder })
    expect(read.stderr + read.stdout).toMatch(/warning\[files\/outside-read\]: `\S*cert\.pem`/)
    expect(read.stderr + read.stdout).not.toContain(MARK)
  })
})
