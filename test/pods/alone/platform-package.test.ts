import { type ExecFileException, execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { write } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { placePackage } from '../../support/installed-package.ts'
import { RUN } from '../../support/platform/run-name.ts'

// An operator installs the platform with the package, in an empty folder. A cluster has one platform, so no
// other installation runs at the same time.

const call = promisify(execFile)
const found = findCluster()
const builder = found && findBuildkit()
const cluster = found !== undefined && builder !== undefined && (await found.hasNodes()) ? found : undefined
const folder = mkdtempSync(join(tmpdir(), 'devctl-package-'))
const REGISTRY = `127.0.0.1:5000/package-${RUN}-${Date.now().toString(36)}`
const BASES = `${REGISTRY}/bases`
const URL = 'https://platform.devctl.localhost'

/**
 * Base images of the server and of runs, which are quick to build: `apt-get` has nothing to do, and the programs of
 * runs are empty.
 */
const QUICK = {
  'library/node:22-alpine': 'FROM node:22-alpine\n',
  'library/node:22-slim': 'FROM node:22-slim\nRUN ln -s /bin/true /usr/local/bin/apt-get\n',
  'kubectl:v1.34.1': 'FROM scratch\nCOPY program /bin/kubectl\n',
  'alpine/helm:3.19.0': 'FROM scratch\nCOPY program /usr/bin/helm\n',
}

describe.skipIf(cluster === undefined)('the platform of the package', () => {
  const devctl = async (line: string, env: Readonly<Record<string, string>> = {}) => {
    const given = { PATH: process.env.PATH!, HOME: folder, NO_COLOR: '1', KUBECONFIG: process.env.KUBECONFIG! }
    const all = { ...given, BUILDKIT_HOST: builder!, ...env }
    const options = { cwd: join(folder, 'work'), env: all, timeout: 300_000 }
    return call(join(folder, 'global/bin/devctl'), line.split(' '), options).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: ExecFileException) => ({ code: error.code, stdout: error.stdout ?? '', stderr: error.stderr ?? '' }),
    )
  }
  const ok = async (...words: Parameters<typeof devctl>) => {
    const answer = await devctl(...words)
    expect(answer.code, answer.stderr).toBe(0)
    return answer
  }
  const namespaces = async () => {
    const { items } = await cluster!.get<{ items: { metadata: { name: string } }[] }>('/api/v1/namespaces')
    return items.map(({ metadata }) => metadata.name)
  }

  beforeAll(async () => {
    mkdirSync(join(folder, 'work'))
    placePackage(folder)
    await devctl('platform uninstall --yes')
    for (const [name, text] of Object.entries(QUICK)) {
      write(join(folder, 'base'), { Dockerfile: text, program: '' })
      await ok(`build --file ../base/Dockerfile --tag ${BASES}/${name} ../base`)
    }
  })
  afterAll(async () => {
    await devctl('platform uninstall --yes')
    rmSync(folder, { recursive: true, force: true })
    cluster?.close()
  })

  const install = (registry: string) =>
    `platform install --domain devctl.localhost --image-registry ${registry} --base-registry ${BASES}`

  test('nothing is installed if no builder answers, and the error says how to build elsewhere', async () => {
    const { code, stderr } = await devctl(install(REGISTRY), { BUILDKIT_HOST: 'tcp://127.0.0.1:9' })
    expect(code).toBe(1)
    expect(stderr).toContain('error: no connection to BuildKit at `tcp://127.0.0.1:9`')
    expect(stderr).toContain(`  = note: \`${REGISTRY}\` has no \`platform:0.1.0\`, \`runner:0.1.0\`\n`)
    expect(stderr).toContain(`build the images on another machine: \`devctl platform images --push ${REGISTRY}\``)
    expect(await namespaces()).not.toContain('devctl-platform')
  })

  test('nothing is installed if the registry refuses the push', async () => {
    const host = await readOnlyRegistry()
    const { code, stderr } = await devctl(install(`${host}/devctl`))
    expect(code).toBe(1)
    expect(stderr).toContain(`was built, but not pushed to \`${host}/devctl/platform:0.1.0\`: denied: it is read-only`)
    expect(stderr).toContain(`docker login ${host}`)
    expect(await namespaces()).not.toContain('devctl-platform')
  })

  test('the operator needs no clone, and people need neither a file nor a variable to trust the authority', async () => {
    const ca = join(dirname(process.env.KUBECONFIG!), 'pki/ca.crt')
    const { stdout, stderr } = await ok(`${install(REGISTRY)} --ca ${ca} --kubernetes-server https://127.0.0.1:6443`)
    expect(stderr).toContain(`\`${REGISTRY}\` has no \`platform:0.1.0\`, \`runner:0.1.0\`: building and pushing`)
    expect(stdout).toContain(`The platform is at ${URL}\n`)
    const at = '/apis/apps/v1/namespaces/devctl-platform/deployments/platform'
    const { spec, status } = await cluster!.get<DeploymentObject>(at)
    const [container] = spec.template.spec.containers
    expect(container!.image).toMatch(new RegExp(`^${REGISTRY}/platform:0\\.1\\.0@sha256:`))
    expect(status.readyReplicas).toBe(1)
    const login = /^ {2}devctl (context use .*)$/m.exec(stdout)?.[1] ?? ''
    expect(login).toContain(' --ca-fingerprint ')
    const env = { DEVCTL_HOME: join(folder, 'admin'), KUBECONFIG: join(folder, 'none'), BUILDKIT_HOST: '' }
    expect((await ok(login, env)).stderr).toContain('Logged in as ')
    expect((await ok('namespace list', env)).stdout).toMatch(/^\S+ \* +Active$/m)
  })

  test('images that the registry has are not built again', async () => {
    const again = await ok(install(REGISTRY))
    expect(again.stderr).not.toContain('building')
  })
})

/** Starts a registry that has no images and refuses pushes. Returns its host. */
async function readOnlyRegistry(): Promise<string> {
  const server = createServer(({ url, method = '' }, response) => {
    if (url === '/v2/') return response.end('{}')
    const [status, code] = ['GET', 'HEAD'].includes(method) ? [404, 'MANIFEST_UNKNOWN'] : [403, 'DENIED']
    response.writeHead(status as number, { 'content-type': 'application/json' })
    return response.end(JSON.stringify({ errors: [{ code, message: 'it is read-only' }] }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface DeploymentObject {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } }
  }
  readonly status: { readonly readyReplicas?: number }
}
