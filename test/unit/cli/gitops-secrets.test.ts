import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { main } from '../../../cli/main.ts'
import type { Choose } from '../../../cli/terminal/io.ts'
import { makeFolder } from '../../support/cli/folder.ts'

const COMPOSE = `services:
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: hunter2-of-the-sea
      OTHER_PASSWORD:
  api:
    image: busybox:1.37
    command: ["app", "--url", "postgres://app:hunter3-of-the-sea@db/shop"]
`

const MANIFEST = `# Ours.
name: shop
environments:
  staging: # the small one
    namespace: shop-staging
    repository: https://git.example.com/deploy.git
    profiles:
      - all # of them
    secrets:
      # Vault has them.
      values:
        services.db.environment.OTHER_PASSWORD: {secret: shop-db, key: other}

  production:
    namespace: shop # big
`

const PASSWORD = 'services.db.environment.POSTGRES_PASSWORD'
const COMMAND = 'services.api.command'

function project(manifest = MANIFEST, compose = COMPOSE) {
  const folder = makeFolder({ 'compose.yaml': compose, 'devctl.yml': manifest })
  return {
    manifest: () => readFileSync(join(folder, 'devctl.yml'), 'utf8'),
    write: (text: string) => writeFileSync(join(folder, 'devctl.yml'), text),
    async secrets(words: readonly string[], choose?: Choose) {
      let [stdout, stderr] = ['', '']
      const status = await main(['gitops', 'secrets', ...words], {
        stdout: { isTTY: choose !== undefined, write: text => (stdout += text) },
        stderr: { isTTY: choose !== undefined, write: text => (stderr += text) },
        readStdin: async () => new Uint8Array(),
        env: { HOME: folder },
        cwd: folder,
        ...(choose && { choose }),
      })
      return { status, stdout, stderr }
    },
  }
}

const STAGING = ['--environment', 'staging']

describe('devctl gitops secrets', () => {
  test('gitops secrets lists what is left, with an option for each, if there is no terminal', async () => {
    const { secrets, manifest } = project()
    const { status, stdout, stderr } = await secrets(STAGING)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain(`\`--secret ${PASSWORD}=shop-db/POSTGRES_PASSWORD\``)
    expect(stderr).not.toContain('of-the-sea')
    expect(manifest()).toBe(MANIFEST)
  })

  test('gitops secrets writes the answers of options, and keeps the rest of the manifest', async () => {
    const { secrets, manifest } = project()
    const { stderr } = await secrets(STAGING)
    const command = /--public (services\.api\.[\w.[\]-]+)/.exec(stderr)![1]!
    const words = ['--secret', `${PASSWORD}=pg/password`, '--public', command]
    const done = await secrets([...STAGING, ...words])
    expect(done).toMatchObject({ status: 0, stdout: expect.stringMatching(/^written: devctl\.yml \(2 answers\)\n$/) })
    const added = [`        ${PASSWORD}: {secret: pg, key: password}`, '      public:', `        - ${command}`]
    const lines = MANIFEST.split('\n')
    const at = lines.findIndex(line => line.includes('OTHER_PASSWORD')) + 1
    expect(manifest().split('\n')).toEqual([...lines.slice(0, at), ...added, ...lines.slice(at)])
    expect(await secrets(STAGING)).toMatchObject({ status: 0, stdout: expect.stringContaining('nothing to answer') })
  })

  test('gitops secrets needs no values of variables', async () => {
    const compose = `services:
  db:
    image: mysql:\${TAG:?}
    command: ["app", "-p", "\${ADMIN_PASSWORD:?give one}"]
    environment:
      OTHER_PASSWORD: \${OTHER:?}
      MYSQL_PASSWORD: \${DB_PASSWORD:?}
      DATABASE: mysql://app:\${APP_KEY?}@\${DB_HOST?}/shop
      LEVEL: \${LEVEL:?}\${NOT_SET_EITHER}
    ports: ["\${PORT:?}:\${INSIDE?}"]
    volumes: ["\${FOLDER:?}:/data", "./here:\${THERE:?}"]
    secrets: [token]
secrets:
  token: {environment: TOKEN_OF_CI}
`
    const { secrets, manifest } = project(undefined, compose)
    const answers = ['MYSQL_PASSWORD', 'DATABASE'].map(name => `services.db.environment.${name}`)
    const left = await secrets(STAGING)
    expect(left.stderr).not.toContain('is required')
    expect(left.stderr.split('\n').at(-2)).toBe(
      `4 values left to answer: \`--public services.db.command\`, ${answers.map(path => `\`--secret ${path}=shop-db/${path.split('.').at(-1)}\``).join(', ')}, \`--secret secrets.token=shop-token/token\``,
    )
    const options = [...answers, 'secrets.token'].flatMap(path => ['--secret', `${path}=shop-db/key`])
    expect(await secrets([...STAGING, ...options, '--public', 'services.db.command'])).toMatchObject({ status: 0 })
    expect(manifest()).toContain('services.db.environment.DATABASE: {secret: shop-db, key: key}')
    expect(manifest()).not.toContain('a-required-secret-value')
  })

  test.each([
    ['name: ${APP:?}\n', '`APP` is required'],
    ['include: ["${MORE:?}.yaml"]\n', '`MORE` is required'],
    ['x-more: {a: 1\n', 'error[yaml/syntax]'],
    ['volumes: {"A B": {driver_opts: {size: "${SIZE:?}"}}}\n', '`SIZE` is required'],
  ])('the mistake in %j is reported with the variables as they are', async (more, message) => {
    const { secrets, manifest } = project(MANIFEST.replace('name: shop\n', ''), `${more}${COMPOSE}`)
    const { status, stderr } = await secrets(STAGING)
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining(message) })
    expect(manifest()).not.toContain('shop-db, key: POSTGRES_PASSWORD')
  })

  test('gitops secrets asks on a terminal', async () => {
    const { secrets, manifest } = project()
    const questions: string[] = []
    const { status } = await secrets(STAGING, async (question, answers) => {
      questions.push(question)
      return answers.find(({ isPreset }) => isPreset)!.value === 'secret' ? 'secret' : 'public'
    })
    expect(status).toBe(0)
    expect(questions).toContainEqual(expect.stringMatching(/POSTGRES_PASSWORD.*\(compose\.yaml:5\)$/))
    expect(manifest()).toContain(`${PASSWORD}: {secret: shop-db, key: POSTGRES_PASSWORD}`)
  })

  test('a canceled question changes nothing, and a postponed answer stays listed', async () => {
    const { secrets, manifest } = project()
    expect((await secrets(STAGING, async () => undefined)).status).toBe(130)
    expect(await secrets(STAGING, async () => 'later')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('left to answer'),
    })
    expect(manifest()).toBe(MANIFEST)
  })

  test('`--dry-run` prints the manifest', async () => {
    const { secrets, manifest } = project()
    const { stdout } = await secrets([...STAGING, '--dry-run', '--secret', `${PASSWORD}=pg/password`])
    expect(stdout).toContain(`${PASSWORD}: {secret: pg, key: password}`)
    expect(manifest()).toBe(MANIFEST)
  })

  test.each([
    ['an environment with nothing in it', 'name: shop\nenvironments:\n  staging:\n'],
    ['an environment in one line', 'name: shop\nenvironments: {staging: {namespace: shop}}\n'],
    ['secrets with nothing in them', 'name: shop\nenvironments:\n  staging:\n    secrets: {public: []} # none\n'],
    ['lines of Windows', 'name: shop\r\nenvironments:\r\n  staging:\r\n    namespace: shop # ours\r\n'],
  ])('gitops secrets writes into %s', async (_, text) => {
    const { secrets, manifest } = project(text)
    const answered = await secrets([...STAGING, '--secret', `${PASSWORD}=pg/password`])
    expect(answered.stdout, answered.stderr).toBe('written: devctl.yml (1 answer)\n')
    expect((await secrets(STAGING)).stderr).not.toContain(PASSWORD)
    expect(/(?<!\r)\n/.test(manifest())).toBe(!text.includes('\r\n'))
  })

  test('an alias is not written to, because it belongs to another environment too', async () => {
    const { secrets } = project('name: shop\nenvironments:\n  one: &one\n    namespace: shop\n  staging: *one\n')
    expect(await secrets([...STAGING, '--secret', `${PASSWORD}=pg/password`])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('`environments.staging` is an alias, which stands for another place too'),
    })
  })

  test.each<[readonly string[], string]>([
    [[], 'which environment?'],
    [[...STAGING, '--secret', 'x'], 'write `PATH=SECRET/KEY`'],
    [[...STAGING, '--secret', 'x=Shop/key'], 'write `PATH=SECRET/KEY`'],
    [[...STAGING, '--public', 'services.web.environment.X'], 'is not among what looks secret'],
    [[...STAGING, '--public', PASSWORD, '--secret', `${PASSWORD}=a/b`], 'is named by `--secret` and by `--public`'],
    [[...STAGING, '--secret', `${COMMAND}=a/b`], 'cannot come from a Secret'],
  ])('gitops secrets refuses %j', async (words, message) => {
    const { secrets, manifest } = project()
    expect(await secrets(words)).toMatchObject({ status: 2, stderr: expect.stringContaining(message) })
    expect(manifest()).toBe(MANIFEST)
  })
})
