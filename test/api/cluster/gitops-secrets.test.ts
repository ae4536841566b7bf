import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { main } from '../../../cli/main.ts'
import type { Io } from '../../../cli/terminal/io.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

const COMPOSE = `services:
  db:
    image: postgres:16
    environment:
      POSTGRES_PASSWORD: \${DB_PASSWORD:?}
    secrets: [token, licence]
secrets:
  token:
    file: token.txt
  licence:
    external: true
`

const MANIFEST = (namespace: string) => `name: shop
environments:
  staging: # the small one
    namespace: ${namespace}
    repository: https://git.example.com/deploy.git
`

const ANSWERS = [
  ['--secret', 'services.db.environment.POSTGRES_PASSWORD=shop-db/password'],
  ['--secret', 'secrets.token=shop-token/token'],
].flat()

/** Runs the command; `person` has the answers of a user at a terminal. */
async function secrets(
  { directory }: Project,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  person: Pick<Io, 'choose' | 'askHidden'> = {},
) {
  let [stdout, stderr] = ['', '']
  const isTTY = person.choose !== undefined
  const status = await main(['gitops', 'secrets', '--environment', 'staging', ...words], {
    stdout: { isTTY, write: text => (stdout += text) },
    stderr: { isTTY, write: text => (stderr += text) },
    readStdin: async () => new Uint8Array(),
    env: { KUBECONFIG: process.env.KUBECONFIG ?? '', DEVCTL_HOME: join(directory, '.home'), ...env },
    cwd: directory,
    ...person,
  })
  expect(stdout + stderr).not.toMatch(/hunter2|tok-of-the-sea|licence-of-the-sea/)
  return { status, stdout, stderr }
}

/** Writes the project. With the answers already in the manifest, the values need not be known. */
function write({ name, write: file }: Project, backend?: string): void {
  file('compose.yaml', COMPOSE)
  const answers = `    secrets:
      backend: ${backend}
      store: vault
      values:
        services.db.environment.POSTGRES_PASSWORD: {secret: shop-db, key: password}
        secrets.token: {secret: shop-token, key: token}
`
  file('devctl.yml', `${MANIFEST(name)}${backend === undefined ? '' : answers}`)
  if (backend === undefined) file('token.txt', 'tok-of-the-sea')
}

const data = async ({ get }: Project, name: string) => {
  const { data } = (await get(`secret/${name}`)) as unknown as { data: Readonly<Record<string, string>> }
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]))
}

describe.skipIf(cluster === undefined)('gitops secrets', () => {
  afterAll(() => cluster?.close())

  test.concurrent('gitops secrets --create uses variables and files, and lists keys without a value', () =>
    withProject(cluster!, async project => {
      write(project)
      const env = { DB_PASSWORD: 'hunter2-of-the-sea' }
      const first = await secrets(project, ['--create', ...ANSWERS], env)
      expect(first.status, first.stderr).toBe(1)
      expect(first.stderr).toContain('1 key without a value: `licence` of `licence`, for `secrets.licence`')
      expect(first.stdout).toContain(`created: secret/shop-db in ${project.name} (password)\n`)
      expect(await data(project, 'shop-db')).toEqual({ password: 'hunter2-of-the-sea' })
      expect(await data(project, 'shop-token')).toEqual({ token: 'tok-of-the-sea' })
      // Another value does not change an existing Secret.
      const again = await secrets(project, ['--create'], { DB_PASSWORD: 'hunter2-of-the-land' })
      expect(again.stdout).toContain(`unchanged: secret/shop-db in ${project.name}\n`)
      expect(await data(project, 'shop-db')).toEqual({ password: 'hunter2-of-the-sea' })
    }))

  test.concurrent('gitops secrets asks a user for missing values after a confirmation', () =>
    withProject(cluster!, async project => {
      write(project, 'reference')
      const questions: string[] = []
      const person = (answer: string) => ({
        choose: async (question: string) => {
          questions.push(question)
          return answer
        },
        askHidden: async (question: string) => {
          questions.push(question)
          return question.includes('licence') ? 'licence-of-the-sea' : 'hunter2-typed'
        },
      })
      expect(await secrets(project, [], {}, person('no'))).toMatchObject({ status: 0 })
      expect(questions.splice(0)).toEqual([
        expect.stringMatching(
          new RegExp(`^Create what is missing of licence, shop-db, shop-token in the namespace ${project.name} of `),
        ),
      ])
      const left = { ...person('yes'), askHidden: async () => undefined }
      expect((await secrets(project, [], {}, left)).status).toBe(130)
      expect(await project.kubectl('get', 'secrets', '--output=name')).not.toMatch(/licence|shop-/)
      questions.length = 0
      const done = await secrets(project, [], {}, person('yes'))
      expect(done.status, done.stderr).toBe(0)
      expect(questions).toContain(
        'Value of password in the Secret shop-db, for services.db.environment.POSTGRES_PASSWORD',
      )
      expect(await data(project, 'licence')).toEqual({ licence: 'licence-of-the-sea' })
      expect(await data(project, 'shop-db')).toEqual({ password: 'hunter2-typed' })
      expect(await data(project, 'shop-token')).toEqual({ token: 'hunter2-typed' })
    }))

  test.concurrent('gitops secrets with the backend `external` creates only external Secrets of the Compose files', () =>
    withProject(cluster!, async project => {
      write(project, 'external')
      const { status, stderr } = await secrets(project, ['--create'])
      expect(status).toBe(1)
      expect(stderr).toContain('1 key without a value: `licence` of `licence`')
      expect(await project.kubectl('get', 'secrets', '--output=name')).not.toContain('shop-')
    }))

  test.concurrent('gitops secrets refuses a namespace that does not exist', () =>
    withProject(cluster!, async project => {
      write(project)
      const words = ['--create', ...ANSWERS, '--namespace', `${project.name}-not-there`]
      expect(await secrets(project, words, { DB_PASSWORD: 'hunter2' })).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`namespace \`${project.name}-not-there\` does not exist`),
      })
    }))
})
