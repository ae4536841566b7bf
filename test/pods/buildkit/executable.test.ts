import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildctlEnv, findBuildkit } from '../../support/buildkit/buildkit.ts'
import { root } from '../../support/cases.ts'
import { lacksExecutable, makeExecutable } from '../../support/channels/executable.ts'
import { write } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'

const address = findBuildkit()
const found = address === undefined || lacksExecutable('amd64') ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const IMAGE = `127.0.0.1:5000/channels-${process.pid}/devctl:1`

/** The job of a pipeline. The runner has cloned the repository as another user, as those of GitLab and GitHub do. */
const JOB = `set -eu
cd /builds/shop
test "$(id -u)" = 65532
! test -w compose.yaml
devctl validate
devctl render --name shop --namespace dev | grep 'kind: Deployment'
git init --quiet --bare /tmp/deploy.git
export GIT_AUTHOR_NAME=CI GIT_AUTHOR_EMAIL=ci@example.com GIT_COMMITTER_NAME=CI GIT_COMMITTER_EMAIL=ci@example.com
devctl publish --repository /tmp/deploy.git --path shop --name shop --namespace dev
git -C /tmp/deploy.git log --format=%B HEAD
git -C /tmp/deploy.git ls-tree -r --name-only HEAD
ssh -V
kubectl-devctl --version
`

describe.skipIf(cluster === undefined)('the executable in a cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-ci-image-'))
  let executable = ''
  beforeAll(() => {
    executable = makeExecutable('amd64', join(folder, 'dist/executable'))
  })
  afterAll(() => {
    cluster?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('devctl builds the image, and a Pod validates, renders and publishes the checkout of another user', async () => {
    // As in a clone, but with an executable of this test.
    symlinkSync(join(root, 'integrations'), join(folder, 'integrations'))
    const env = { BUILDKIT_HOST: address!, DEVCTL_HOME: join(folder, 'home'), DEVCTL_IMAGE: IMAGE }
    const built = await run(['build', '--progress', 'plain'], { cwd: join(folder, 'integrations/image'), env })
    expect(built.status, built.stderr).toBe(0)

    await withProject(cluster!, async ({ name, directory, write: writeFile, devctl, kubectl }) => {
      write(join(directory, 'checkout'), {
        'compose.yaml': 'services: {web: {image: "nginx:1.27", ports: ["80"]}}\n',
        Dockerfile: [
          `FROM ${IMAGE}`,
          'USER 0:0',
          'COPY compose.yaml /builds/shop/',
          'RUN cd /builds/shop && git init --quiet && git add . \\',
          '  && git -c user.name=Ann -c user.email=ann@example.com commit --quiet -m "shop: first version"',
          'USER 65532:65532',
          '',
        ].join('\n'),
      })
      const job = `127.0.0.1:5000/channels-${process.pid}/job:1`
      const words = ['build', '--file', 'Dockerfile', '--tag', job, '.']
      const checkout = await run(words, { cwd: join(directory, 'checkout'), env })
      expect(checkout.status, checkout.stderr).toBe(0)

      writeFile('job.sh', JOB)
      writeFile(
        'compose.yaml',
        `services:\n  job:\n    image: ${job}\n    restart: "no"\n    command: [bash, /job.sh]\n    configs: [{source: job, target: /job.sh}]\nconfigs: {job: {file: job.sh}}\n`,
      )
      const deployed = await devctl('deploy', '--wait', '--timeout', '120s')
      expect(deployed.status, deployed.stderr).toBe(0)
      const log = await kubectl('logs', '--selector', 'app.kubernetes.io/name=job', '--tail=-1')
      expect(log, name).toContain('kind: Deployment')
      expect(log).toContain('shop: first version')
      expect(log).toMatch(/^shop\/\S+\.yaml$/m)
      expect(log).toContain('OpenSSH')
      expect(log).toMatch(/^devctl \d/m)
    })
  })

  test('kubectl runs the executable as a plugin', () => {
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    symlinkSync(executable, join(bin, 'kubectl-devctl'))
    const env = { PATH: `${bin}${delimiter}${buildctlEnv.PATH}`, HOME: folder }
    const { status, stdout } = spawnSync('kubectl', ['devctl', '--version'], { env, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^devctl \d/) })
  })

  test('the executable brings the agent of development containers, and continues in the background', () =>
    withProject(cluster!, async ({ name, directory, write: writeFile }) => {
      writeFile(
        'compose.yaml',
        'services:\n  app:\n    image: busybox:1.37\n    command: [sleep, "3600"]\n    volumes: [./src:/src]\n    stop_grace_period: 1s\n',
      )
      writeFile('src/a.txt', 'one')
      const env = {
        PATH: '/usr/bin:/bin',
        HOME: directory,
        KUBECONFIG: process.env.KUBECONFIG!,
        DEVCTL_NAMESPACE: name,
      }
      const devctl = (...words: readonly string[]) =>
        spawnSync(executable, words, { cwd: directory, env, encoding: 'utf8' })
      const up = devctl('up', 'app', '--detach')
      expect(up.status, up.stderr).toBe(0)
      try {
        expect(devctl('exec', 'app', '--', 'cat', '/src/a.txt')).toMatchObject({ status: 0, stdout: 'one' })
      } finally {
        expect(devctl('down', 'app')).toMatchObject({ status: 0 })
      }
    }))
})
