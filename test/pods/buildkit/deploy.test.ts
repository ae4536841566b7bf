import { afterAll, describe, expect, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { git } from '../../support/git/git.ts'
import { bareRepository } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'

const address = findBuildkit()
const found = address === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Registry of the test cluster, which its nodes and its BuildKit reach under the same name. */
const REGISTRY = '127.0.0.1:5000/builds'

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
}

const COMPOSE = `services:
  web:
    build: {context: web, args: {GREETING: hello}}
    ports: ["8080:80"]
    stop_grace_period: 1s
  base: {build: base, profiles: [build]}
  api:
    build: {context: api, additional_contexts: {base: "service:base"}}
    stop_grace_period: 1s
  cache:
    image: busybox:1.37
    command: [sleep, "1000"]
    stop_grace_period: 1s
`

function write({ compose, write }: Project): void {
  compose(COMPOSE)
  write('web/Dockerfile', 'FROM busybox:1.37\nARG GREETING\nRUN echo "$GREETING" > /greeting\nCMD ["sleep", "1000"]\n')
  write('base/Dockerfile', 'FROM busybox:1.37\nRUN echo base > /base\n')
  write('api/Dockerfile', 'FROM base\nCOPY a.txt /\nCMD ["sleep", "1000"]\n')
  write('api/a.txt', 'one\n')
}

/** Runs devctl with the BuildKit of the tests. */
const runIn = ({ name, directory }: Project, words: readonly string[], builder = address!) =>
  run(words, {
    cwd: directory,
    env: {
      KUBECONFIG: process.env.KUBECONFIG ?? '',
      DEVCTL_HOME: `${directory}/.home`,
      BUILDKIT_HOST: builder,
      ...AUTHOR,
      DEVCTL_NAMESPACE: name,
    },
  })

/** Runs a command for the services of a project. */
const devctlIn =
  (project: Project, builder = address!) =>
  (command: string, ...args: readonly string[]) =>
    runIn(project, [command, '--name', project.name, '--registry', REGISTRY, ...args], builder)

describe.skipIf(cluster === undefined)('deploy of services with `build`', () => {
  afterAll(() => cluster?.close())

  test('deploy builds images that the registry does not have, and uses their digests', () =>
    withProject(cluster!, async project => {
      write(project)
      const devctl = devctlIn(project)
      const first = await devctl('deploy', '--wait')
      expect(first.status, first.stderr).toBe(0)
      for (const service of ['web', 'base', 'api']) expect(first.stderr).toContain(`${service}: built ${REGISTRY}/`)
      const image = async (workload: string) =>
        (
          await project.kubectl(
            'get',
            'deployment',
            workload,
            '--output=jsonpath={.spec.template.spec.containers[0].image}',
          )
        ).trim()
      const before = await image('api')
      expect(before).toMatch(/^127\.0\.0\.1:5000\/builds\/p\d+-\d+-api:[0-9a-f]{12}@sha256:[0-9a-f]{64}$/)
      expect(await project.kubectl('exec', 'deployment/web', '--', 'cat', '/greeting')).toBe('hello\n')
      expect(await project.kubectl('exec', 'deployment/api', '--', 'cat', '/base', '/a.txt')).toBe('base\none\n')

      // The images are not built again, so no builder is needed.
      const second = await devctlIn(project, 'tcp://127.0.0.1:9')('deploy')
      expect(second.status, second.stderr).toBe(0)
      expect(second.stderr).toContain('is up to date')
      expect((await devctlIn(project, 'tcp://127.0.0.1:9')('diff', '--exit-code')).status).toBe(0)

      // A deploy builds only changed images.
      project.write('api/a.txt', 'two\n')
      const third = await devctl('deploy', 'api', '--wait')
      expect(third.status, third.stderr).toBe(0)
      expect(third.stderr).toContain('base: is in the registry already')
      expect(third.stderr).toContain('api: built')
      expect(third.stderr).not.toContain('web')
      expect(await image('api')).not.toBe(before)
      expect(await project.kubectl('exec', 'deployment/api', '--', 'cat', '/a.txt')).toBe('two\n')
    }))

  test('deploy reports each error of a build once, and deploys nothing', () =>
    withProject(cluster!, async project => {
      write(project)
      project.write('base/Dockerfile', 'FROM busybox:1.37\nRUN echo almost\nRUN exit 3\n')
      const failed = await devctlIn(project)('deploy')
      expect(failed.status).toBe(1)
      expect(failed.stderr).toContain('base/Dockerfile:3:1')
      expect(failed.stderr.match(/error\[/g)).toHaveLength(1)
      expect(failed.stderr).toContain('web: built')
      expect(failed.stderr).toContain('nothing was deployed')
      expect(await project.kubectl('get', 'deployments', '--output=name')).toBe('')
    }))

  test('deploy names a builder that does not answer', () =>
    withProject(cluster!, async project => {
      write(project)
      const failed = await devctlIn(project, 'tcp://127.0.0.1:9')('deploy')
      expect(failed.status).toBe(1)
      expect(failed.stderr).toContain('error: no connection to BuildKit at `tcp://127.0.0.1:9`')
      expect(failed.stderr).toContain('the builder is that of `BUILDKIT_HOST`')
    }))

  test('`build` writes a metadata file, whose digests `render` uses', () =>
    withProject(cluster!, async project => {
      write(project)
      // A service with the same build is built together with the other one, and its image has another name.
      project.compose(
        `${COMPOSE}  worker:\n    build: {context: web, args: {GREETING: hello}}\n    command: [sleep, "1"]\n`,
      )
      const devctl = devctlIn(project)
      const built = await devctl('build', '--metadata-file', 'images.json', '--progress', 'plain')
      expect(built.status, built.stderr).toBe(0)
      expect(built.stderr).toContain('worker: has the same build as web, and is built with it\n')
      const [web] = /web: (\S+)/.exec(built.stdout)!.slice(1)
      expect(web).toMatch(/@sha256:[0-9a-f]{64}$/)
      const [worker] = /worker: (\S+)/.exec(built.stdout)!.slice(1)
      expect(worker).toBe(web!.replace('-web:', '-worker:'))
      const again = await devctlIn(project, 'tcp://127.0.0.1:9')('build')
      expect(again.stderr).toContain('worker: is in the registry already')
      expect((await devctl('render', '--images-file', 'images.json')).stdout).toContain(`image: ${web}\n`)
    }))

  test('`build -f Dockerfile` builds that file, and pushes it under the name of --tag', () =>
    withProject(cluster!, async project => {
      write(project)
      const devctl = (...words: readonly string[]) => runIn(project, words)
      const checked = await devctl('build', '-f', 'base/Dockerfile', 'base')
      expect(checked.status, checked.stderr).toBe(0)
      expect(checked.stderr).toContain('built and not pushed')
      const name = `${REGISTRY}/${project.name}-tool`
      const pushed = await devctl('build', '-f', 'web/Dockerfile', '--build-arg', 'GREETING=hi', '-t', name, 'web')
      expect(pushed.status, pushed.stderr).toBe(0)
      expect(pushed.stdout).toMatch(new RegExp(`^Dockerfile: ${name}:latest@sha256:[0-9a-f]{64}\n$`))
      const wrong = await devctl('build', '-f', 'base/Dockerfile', 'base', 'web')
      expect(wrong).toMatchObject({ status: 2, stderr: expect.stringContaining('a Dockerfile has one context') })
    }))

  test('`publish --build` builds missing images, and commits the digests', () =>
    withProject(cluster!, async project => {
      write(project)
      const { repository } = await bareRepository(makeFolder(), { files: { 'README.md': 'ours\n' } })
      const to = ['--repository', repository, '--path', 'shop', '--domain', 'dev.example.com', '--namespace', 'shop']
      const devctl = devctlIn(project)
      if (TAKES_ALL) {
        const dry = await devctl('publish', ...to, '--build', '--dry-run')
        expect(dry.stderr).toContain('error[image/not-confirmed]')
      }
      const published = await devctl('publish', ...to, '--build')
      expect(published.status, published.stderr).toBe(0)
      expect(published.stderr).toContain('api: built')
      const manifest = await git(repository, 'show', 'main:shop/api/deployment-api.yaml')
      expect(manifest).toMatch(/image: 127\.0\.0\.1:5000\/builds\/p\d+-\d+-api:[0-9a-f]{12}@sha256:[0-9a-f]{64}\n/)
      if (TAKES_ALL) expect((await devctl('publish', ...to)).stdout).toMatch(/^unchanged/)
    }))

  longTest('`publish --build` warns of settings of images, on which its manifests do not depend', () =>
    withProject(cluster!, async project => {
      write(project)
      project.write('base/Dockerfile', 'FROM busybox:1.37\nEXPOSE 8081\nVOLUME /data\n')
      const { repository } = await bareRepository(makeFolder(), { files: { 'README.md': 'ours\n' } })
      const to = ['--repository', repository, '--path', 'shop', '--domain', 'dev.example.com', '--namespace', 'shop']
      const devctl = devctlIn(project)
      const refused = await devctl('publish', ...to, '--build', '--policy', 'restricted')
      expect(refused.stderr).toContain('error[security/image-user]: the image of ')
      expect(refused.stderr).toContain('the image of `api` runs as root')
      const published = await devctl('publish', ...to, '--build')
      expect(published.status, published.stderr).toBe(0)
      expect(published.stderr).toContain('warning[volumes/of-image]: the image of `api` has a volume at `/data`')
      expect(await git(repository, 'show', 'main:shop/api/service-api.yaml')).not.toContain('8081')
      expect((await devctl('publish', ...to)).stdout).toMatch(/^unchanged/)
    }),
  )
})
