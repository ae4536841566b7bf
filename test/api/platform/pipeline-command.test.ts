import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jobRef } from '../../../platform/records/run.ts'
import { eventually } from '../../support/cluster/cluster.ts'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests `devctl pipeline` in a checkout, with a platform as its context. There is no leader and no node: no run
// starts, and the test ends them.

describe.skipIf(!process.env.KUBECONFIG)('devctl pipeline', () => {
  let platform: TestPlatform
  let ann: Person
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-pipeline-'))
  const checkout = join(folder, 'checkout')
  const repository = 'https://git.example.com/team/shop'

  beforeAll(async () => {
    platform = await openPlatform()
    ann = await platform.person('ann')
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    mkdirSync(checkout)
    const git = (...words: string[]) => execFileSync('git', words, { cwd: checkout, stdio: 'pipe' })
    git('init', '--initial-branch', 'feature')
    git('remote', 'add', 'origin', 'git@git.example.com:team/shop.git')
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  const env = () => ({ HOME: folder, DEVCTL_URL: url, DEVCTL_TOKEN: ann.token, PATH: process.env.PATH! })
  const devctl = (line: string, cwd = checkout) => run(line.split(' '), { cwd, env: env() })
  const pipeline = (line: string, cwd = checkout) => devctl(`pipeline ${line}`, cwd)
  /** Returns the runs of an environment, the newest first. */
  const runsOf = async (environment: string) => {
    const query = { namespace: ann.home, environment }
    return (await platform.call('GET /runs', { token: ann.token, query })).body.items
  }
  const aRun = (environment: string, number = 1) =>
    eventually('a run', async () => {
      const all = await runsOf(environment)
      return all.length >= number ? all[0] : undefined
    })
  async function cancel(id: string): Promise<void> {
    await platform.parts.runs.stop(id, { why: 'cancelled' })
    // Does what the leader does when the Pod is deleted: nothing runs here.
    const settled = { metadata: { labels: { 'dev.platform/live': null } } }
    await platform.cluster.patch(jobRef(id), settled, { manager: 'test' })
  }
  const scheduled = (name: string, action = 'deploy') =>
    `Scheduled the ${action} of ${name} in ${ann.home}; \`devctl pipeline logs --name ${name}\` shows it\n`

  describe('pipeline deploy', () => {
    test('pipeline deploy in a checkout deploys the main branch, named like the repository', async () => {
      expect(await pipeline('deploy')).toEqual({ status: 0, stdout: '', stderr: scheduled('shop') })
      const [made, ...others] = await runsOf('shop')
      expect(others).toEqual([])
      expect(made).toMatchObject({ environment: 'shop', namespace: ann.home, action: 'deploy', state: 'queued' })
      expect(made).toMatchObject({ repository, user: { id: ann.id } })
      for (const key of ['branch', 'file', 'variables']) expect(made).not.toHaveProperty(key)
    })

    test('pipeline deploy takes the branch, the file, the name and the variables of its options', async () => {
      const other = 'https://git.example.com/team/blog.git'
      const words = `--repository ${other} --branch v2 --file deploy/devctl.yml --name diary --var TOKEN=canary-c2Vj --var B=2`
      expect(await pipeline(`deploy ${words}`, folder)).toEqual({ status: 0, stdout: '', stderr: scheduled('diary') })
      const [made] = await runsOf('diary')
      expect(made).toMatchObject({ branch: 'v2', file: 'deploy/devctl.yml', variables: ['TOKEN', 'B'] })
      expect(made?.repository).toMatch(/^https:\/\/git\.example\.com\/team\/blog(\.git)?$/)
      expect(JSON.stringify([made, platform.audit, platform.log])).not.toContain('canary')
    })

    test('pipeline deploy names the environment like another repository', async () => {
      expect((await pipeline(`deploy --repository https://git.example.com/team/blog.git`)).stderr).toBe(
        scheduled('blog'),
      )
    })

    test('pipeline deploy --wait waits for the end, and fails with a cancelled run', async () => {
      const waiting = pipeline('deploy --name waited --wait')
      await cancel((await aRun('waited')).id)
      const { status, stdout, stderr } = await waiting
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toContain(`the deploy of waited in ${ann.home} was cancelled`)
    })

    test('pipeline deploy --timeout ends the wait, and not the run', async () => {
      const { status, stderr } = await pipeline('deploy --name slow --wait --timeout 3s')
      expect(status).toBe(1)
      expect(stderr).toContain('error: not done within 3.0 s\n')
      expect(stderr).toContain('what was started in the cluster continues; `devctl pipeline logs --name slow` shows it')
      expect(await runsOf('slow')).toMatchObject([{ state: 'queued' }])
    })

    test.each([
      ['deploy', 2, 'which repository?'],
      ['deploy --repository https://ann:secret@git.example.com/team/shop', 2, 'has a user or a password'],
      [`deploy --repository ${repository} --name ../shop`, 2, '../shop'],
      [`deploy --repository ${repository} --namespace none-${RUN}`, 1, 'you are not a member of it'],
      ['deploy --repository ftp://git.example.com/x', 1, 'according to the platform'],
    ])('outside of a checkout, `%s` has the status %i and starts nothing', async (line, status, said) => {
      const before = (await runsOf('shop')).length
      expect(await pipeline(line, folder)).toMatchObject({ status, stdout: '', stderr: expect.stringContaining(said) })
      expect(await runsOf('shop')).toHaveLength(before)
    })
  })

  describe('pipeline deploy --skip-if-exists', () => {
    const skipping = (name: string, more = '') => pipeline(`deploy --name ${name} --skip-if-exists${more}`)
    /** Deploys from this machine, so that the environment exists without a run. */
    const exists = async (name: string) => {
      writeFileSync(join(checkout, 'compose.yaml'), `services:\n  ${name}: {image: "nginx:1.27-alpine"}\n`)
      const { status, stderr } = await devctl(`deploy --name ${name}`)
      expect(status, stderr).toBe(0)
    }

    test('--skip-if-exists deploys a missing environment, and skips one that is being deployed', async () => {
      expect((await skipping('first')).stderr).toBe(scheduled('first'))
      expect(await skipping('first')).toEqual({
        status: 0,
        stdout: '',
        stderr: `first is already being deployed to ${ann.home}; skipped\n`,
      })
      expect(await runsOf('first')).toHaveLength(1)
    })

    test('--skip-if-exists --wait waits for the existing deploy', async () => {
      await pipeline('deploy --name joined')
      const { id } = await aRun('joined')
      const before = platform.requests
      const waiting = skipping('joined', ` --wait --namespace ${ann.home}`)
      // One request for the runs, and one for the log of the existing run.
      await eventually('it waits', async () => (platform.requests >= before + 2 ? true : undefined))
      await cancel(id)
      expect(await waiting).toMatchObject({ status: 1, stderr: expect.stringContaining('was cancelled') })
      expect(await runsOf('joined')).toHaveLength(1)
    })

    test('--skip-if-exists skips an environment that exists, also with --wait', async () => {
      await exists('there')
      const skipped = { status: 0, stdout: '', stderr: `there exists in ${ann.home}; skipped\n` }
      expect(await skipping('there')).toEqual(skipped)
      expect(await skipping('there', ' --wait')).toEqual(skipped)
      expect(await runsOf('there')).toEqual([])
    })

    test('--skip-if-exists deploys again after a failure or a requested destroy', async () => {
      await exists('again')
      await pipeline('deploy --name again')
      await cancel((await aRun('again')).id)
      expect((await skipping('again')).stderr).toBe(
        `The last deploy of again in ${ann.home} did not succeed; deploying it again\n${scheduled('again')}`,
      )
      await exists('leaving')
      expect((await pipeline('destroy --name leaving')).status).toBe(0)
      expect((await skipping('leaving')).stderr).toBe(scheduled('leaving'))
    })
  })

  describe('pipeline destroy', () => {
    test('pipeline destroy destroys the environment of this checkout, and keeps the data', async () => {
      expect(await pipeline('destroy')).toEqual({ status: 0, stdout: '', stderr: scheduled('shop', 'destroy') })
      const [made] = await runsOf('shop')
      expect(made).toMatchObject({ action: 'destroy' })
      expect(made?.volumes).toBeFalsy()
    })

    test('pipeline destroy of an unknown environment fails, except with --ignore-not-found', async () => {
      const wrong = await pipeline('destroy --name shopp --wait')
      expect(wrong).toMatchObject({ status: 1, stdout: '' })
      expect(wrong.stderr).toContain(`error: environment \`shopp\` does not exist in \`${ann.home}\`\n`)
      expect(wrong.stderr).toContain('did you mean `shop`?')
      const unlike = await pipeline('destroy --name quite-another')
      expect(unlike).toMatchObject({ status: 1, stdout: '' })
      expect(unlike.stderr).toMatch(/the environments are .*`shop`.*; .*`--ignore-not-found`/)
      expect(await pipeline('destroy --name shopp --ignore-not-found')).toEqual({
        status: 0,
        stdout: '',
        stderr: `environment shopp does not exist in ${ann.home}: nothing to destroy\n`,
      })
      expect(await pipeline(`destroy --name shop --ignore-not-found --namespace none-${RUN}`)).toMatchObject({
        status: 0,
        stderr: expect.stringContaining(`namespace none-${RUN} does not exist`),
      })
      expect(await pipeline(`destroy --name shop --namespace none-${RUN}`)).toMatchObject({ status: 1 })
      expect([...(await runsOf('shopp')), ...(await runsOf('quite-another'))]).toEqual([])
    })

    test('pipeline destroy accepts environments without a run, and remaining claims', async () => {
      const deploy = async (name: string) => {
        const service = `services:\n  ${name}: {image: "nginx:1.27-alpine", volumes: ["${name}:/data"]}\n`
        writeFileSync(join(checkout, 'compose.yaml'), `${service}volumes: {${name}: {}}\n`)
        const { status, stderr } = await devctl(`deploy --name ${name}`)
        expect(status, stderr).toBe(0)
      }
      await deploy('local')
      expect(await pipeline('destroy --name local')).toMatchObject({ status: 0, stderr: scheduled('local', 'destroy') })
      await deploy('left')
      expect((await devctl('destroy --name left')).stderr).toContain('kept persistentvolumeclaim/')
      expect(await pipeline('destroy --name left --volumes')).toMatchObject({
        status: 0,
        stderr: scheduled('left', 'destroy'),
      })
    })

    test('pipeline destroy --volumes --wait deletes volumes and waits for the end', async () => {
      const waiting = pipeline('destroy --name diary --volumes --wait')
      const made = await aRun('diary', 2)
      expect(made).toMatchObject({ action: 'destroy', volumes: true })
      await cancel(made.id)
      expect(await waiting).toMatchObject({
        status: 1,
        stderr: expect.stringContaining(`the destroy of diary in ${ann.home} was cancelled`),
      })
    })
  })

  describe('pipeline list', () => {
    test('pipeline list has the last run of each environment, as a table, JSON and YAML', async () => {
      const rows = (await pipeline('list')).stdout.split('\n').map(line => line.trim().split(/ {2,}/))
      expect(rows[0]).toEqual(['Name', 'Status', 'Repository', 'Branch'])
      const names = rows.slice(1, -1).map(([name]) => name)
      expect(names).toEqual([...new Set(names)].sort())
      expect(rows).toContainEqual(['waited', 'deploy cancelled', repository, '-'])
      expect(rows.find(([name]) => name === 'diary')?.[1]).toBe('destroy cancelled')
      expect(rows.find(([name]) => name === 'shop')?.[1]).toBe('destroy queued')
      const json = JSON.parse((await pipeline('list --output json')).stdout)
      expect(json.map((one: { environment: string }) => one.environment)).toEqual(names)
      expect(json).toContainEqual(expect.objectContaining({ environment: 'slow', state: 'queued', repository }))
      expect((await pipeline('list -o yaml')).stdout).toContain('environment: slow\n')
    })

    test('pipeline list of another namespace needs the right to see it', async () => {
      const bob = await platform.person('bob')
      const { status, stdout, stderr } = await pipeline(`list --namespace ${bob.home}`)
      expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
      expect(stderr).toContain('you are not a member of it')
    })
  })

  describe('pipeline logs', () => {
    test('pipeline logs shows the last run until it has ended, and fails with a cancelled run', async () => {
      const { id } = await aRun('slow')
      const waiting = pipeline('logs --name slow')
      await cancel(id)
      expect(await waiting).toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringContaining(`the deploy of slow in ${ann.home} was cancelled`),
      })
    })

    test('pipeline logs of an environment without a run fails with a hint', async () => {
      expect(await pipeline('logs --name nothing')).toEqual({
        status: 1,
        stdout: '',
        stderr: `error: there is no run of \`nothing\` in \`${ann.home}\`\n  = help: to see them, run \`devctl pipeline list\`; to choose one, add \`--name\`\n`,
      })
    })
  })
})
