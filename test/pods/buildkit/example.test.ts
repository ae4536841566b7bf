import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { buildctl, ENGINE, findBuildkit, findEngineAddress } from '../../support/buildkit/buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { untilAnswers } from '../../support/cluster/application.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { DOMAIN } from '../../support/cluster/examples.ts'
import { withProject } from '../../support/cluster/project.ts'
import { run } from '../../support/run.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { configOf, filesOf, manifestOf } from './pushed-image.ts'

const address = findBuildkit()
const engine = findEngineAddress()
const found = address === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
const KEY = 'a-key-that-no-image-has'
const VARIABLES = { SIGNING_KEY: KEY, VERSION: '1.4' }
const EXAMPLE = join(root, 'examples/build')

/** Size in bytes that only layers of base images have. */
const LARGE = 1 << 20

/** Options with which buildctl builds the same image; `images` are the images that were built, by service. */
const OPTIONS: Readonly<Record<string, (images: ReadonlyMap<string, string>) => readonly string[]>> = {
  site: () => opts('build-arg:TITLE=Words', 'build-arg:VERSION=1.4'),
  api: () => opts('target=production', 'build-arg:VERSION=1.4'),
  words: () => ['--secret', 'id=signing_key,env=SIGNING_KEY'],
  mailer: images => opts(`context:api=docker-image://${images.get('api')}`),
}

const opts = (...options: readonly string[]): readonly string[] => options.flatMap(option => ['--opt', option])

describe.skipIf(address === undefined)('images of examples/build', () => {
  const services = Object.keys(OPTIONS)

  test('the options for buildctl include all services that build', () => {
    const { services: all } = parse(readFileSync(join(EXAMPLE, 'compose.yaml'), 'utf8'))
    expect(services.sort()).toEqual(
      Object.keys(all)
        .filter(name => all[name].build)
        .sort(),
    )
  })

  longTest('BuildKit gives the configuration, layers and files that buildctl gives', async () => {
    const images = await builtBy({ BUILDKIT_HOST: address! }, [])
    expect([...images.keys()].sort()).toEqual(services)
    for (const service of services) {
      const [ours, theirs] = [images.get(service)!, await builtByBuildctl(service, images)]
      const { layers } = await compare(service, ours, theirs)
      expect(layers.ours, service).toBe(layers.theirs)
    }
  })

  if (TAKES_ALL)
    test.skipIf(engine === undefined)('a Docker Engine gives the configuration and files of buildctl', async () => {
      // The engine of the test cluster has no network of its own, and is too old for `additional_contexts`.
      const names = services.filter(name => name !== 'mailer')
      const images = await builtBy({ DOCKER_HOST: engine!.slice(ENGINE.length) }, names)
      expect([...images.keys()].sort()).toEqual([...names].sort())
      for (const service of names) {
        const [ours, theirs] = [images.get(service)!, await builtByBuildctl(service, images)]
        // BuildKit omits from a layer files that `COPY` does not change; the engine does not.
        await compare(service, ours, theirs)
      }
    })
})

/**
 * Compares two images of a service: what containers are started with, the layers of base images, and all files. Digests
 * of other layers contain the times of files and folders, which differ from build to build. Returns the numbers of
 * layers.
 */
async function compare(service: string, ours: string, theirs: string) {
  const [manifest, other] = [await manifestOf(ours), await manifestOf(theirs)]
  const [config, otherConfig] = [await configOf(ours, manifest), await configOf(theirs, other)]
  expect(configured(config), service).toEqual(configured(otherConfig))
  const base = manifest.layers.findLastIndex(({ size }) => size > LARGE) + 1
  expect(config.rootfs.diff_ids.slice(0, base), service).toEqual(otherConfig.rootfs.diff_ids.slice(0, base))
  expect(await filesOf(ours, manifest, base), service).toEqual(await filesOf(theirs, other, base))
  return { layers: { ours: manifest.layers.length, theirs: other.layers.length } }
}

/** Returns the settings with which containers of an image start. */
function configured({ os, architecture, config }: Awaited<ReturnType<typeof configOf>>) {
  const { Env, Cmd, Entrypoint, User, WorkingDir, ExposedPorts, Labels, Volumes, StopSignal } = config
  return { os, architecture, Env, Cmd, Entrypoint, User, WorkingDir, ExposedPorts, Labels, Volumes, StopSignal }
}

/** Compose file for an engine that has no separate network for the steps. */
const HOST_NETWORK = JSON.stringify({
  services: Object.fromEntries(Object.keys(OPTIONS).map(name => [name, { build: { network: 'host' } }])),
})

let count = 0

/** Builds the example with devctl, and returns the references by service. */
async function builtBy(env: Readonly<Record<string, string>>, names: readonly string[]) {
  const folder = makeFolder()
  cpSync(EXAMPLE, folder, { recursive: true })
  writeFileSync(join(folder, 'network.json'), HOST_NETWORK)
  const files = env['DOCKER_HOST'] ? ['-f', 'compose.yaml', '-f', 'network.json'] : []
  const options = ['--name', `example${process.pid}-${++count}`, '--registry', `${REGISTRY}/builds`]
  const { status, stdout, stderr } = await run(['build', ...names, ...files, ...options, '--no-cache'], {
    cwd: folder,
    env: { DEVCTL_HOME: `${folder}/.home`, ...VARIABLES, ...env },
  })
  expect(status, stderr).toBe(0)
  expect(stdout + stderr).not.toContain(KEY)
  return new Map(
    stdout
      .trim()
      .split('\n')
      .map(line => line.split(': ') as [string, string]),
  )
}

/** Builds a service of the example with buildctl, with the cache, and returns its reference. */
async function builtByBuildctl(service: string, images: ReadonlyMap<string, string>): Promise<string> {
  const folder = join(EXAMPLE, service)
  const name = `${REGISTRY}/buildctl/${service}:${process.pid}-${++count}`
  const metadata = join(makeFolder(), 'metadata.json')
  const local = ['--local', `context=${folder}`, '--local', `dockerfile=${folder}`]
  const output = ['--output', `type=image,name=${name},push=true,oci-mediatypes=true`, '--metadata-file', metadata]
  const words = ['build', '--frontend', 'dockerfile.v0', ...local, ...OPTIONS[service]!(images), ...output]
  await buildctl(address!, words, VARIABLES)
  return `${name}@${JSON.parse(readFileSync(metadata, 'utf8'))['containerimage.digest']}`
}

if (TAKES_ALL)
  describe.skipIf(cluster === undefined)('examples/build', () => {
    afterAll(() => cluster?.close())

    test.skipIf(engine === undefined)('examples/build is deployed with images of a Docker Engine', () =>
      withProject(cluster!, async ({ name, directory }) => {
        cpSync(EXAMPLE, directory, { recursive: true })
        writeFileSync(join(directory, 'network.json'), HOST_NETWORK)
        // The engine of the test cluster is too old for the `additional_contexts` of this one.
        const mailer = (await builtBy({ BUILDKIT_HOST: address! }, ['mailer'])).get('mailer')!
        const files = ['-f', 'compose.yaml', '-f', 'network.json', '--image', `mailer=${mailer}`]
        const to = ['--name', name, '--registry', `${REGISTRY}/builds`, '--wait', '--domain', DOMAIN]
        const { status, stderr } = await run(['deploy', ...files, ...to], {
          cwd: directory,
          env: {
            KUBECONFIG: process.env.KUBECONFIG ?? '',
            DEVCTL_HOME: `${directory}/.home`,
            DEVCTL_NAMESPACE: name,
            DOCKER_HOST: engine!.slice(ENGINE.length),
            ...VARIABLES,
          },
        })
        expect(status, stderr).toBe(0)
        await untilAnswers(cluster!, `site-${name}.${DOMAIN}`, '/api/', page => page.body.includes('"version":"1.4"'))
      }),
    )

    test('examples/build is deployed and works, and its build secret is in no output and no container', () =>
      withProject(cluster!, async ({ name, directory, kubectl }) => {
        cpSync(join(root, 'examples/build'), directory, { recursive: true })
        const devctl = (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
          run([...args, '--name', name, '--registry', '127.0.0.1:5000/builds'], {
            cwd: directory,
            env: {
              KUBECONFIG: process.env.KUBECONFIG ?? '',
              DEVCTL_HOME: `${directory}/.home`,
              BUILDKIT_HOST: address!,
              DEVCTL_NAMESPACE: name,
              ...env,
            },
          })
        const deploy = ['deploy', '--wait', '--domain', DOMAIN]

        const refused = await devctl({}, ...deploy)
        expect(refused.status).toBe(1)
        expect(refused.stderr).toContain('error[build/secret-not-available]')

        const { status, stderr } = await devctl({ SIGNING_KEY: KEY, VERSION: '1.4' }, ...deploy)
        expect(status, stderr).toBe(0)
        expect(stderr).toMatch(/^#\d+ \[api tested 2\/2\] RUN node --test$/m)
        expect(stderr).not.toContain(KEY)
        await untilAnswers(cluster!, `site-${name}.${DOMAIN}`, '/', page => page.body.includes('Version 1.4'))
        await untilAnswers(cluster!, `site-${name}.${DOMAIN}`, '/api/', page => page.body.includes('"version":"1.4"'))
        expect(await kubectl('exec', 'deployment/mailer', '--', 'cat', 'src/choose.mjs')).toContain(
          'export const choose',
        )
        const holds = await kubectl(
          'exec',
          'deployment/words',
          '--',
          'sh',
          '-c',
          `grep -rls ${KEY} /app /run /var || echo none`,
        )
        expect(holds).toBe('none\n')
      }))
  })
