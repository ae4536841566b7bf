import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NODE_VERSIONS, nodeFolder } from '../../../scripts/test-packages.mjs'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { type InstalledPackage, placePackage } from '../../support/installed-package.ts'

// Runs the commands of the package that need a cluster and a builder, with each version of Node.js. npm installs it in
// test/programs/cli/package.test.ts.

const builder = findBuildkit()
const found = builder === undefined ? undefined : findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Registry of the test cluster, which its nodes and its BuildKit reach under the same name. */
const REGISTRY = '127.0.0.1:5000/package'
const PLATFORM = [
  ...['--domain', 'dev.example.com', '--image-registry', 'registry.example.com/devctl'],
  ...['--kubernetes-server', 'https://kubernetes.example.com:6443'],
]
/** Warnings of Node.js; devctl's own ones depend on what else is in the cluster. */
const OF_NODE = /\(node:\d+\)|deprecat/i
const FILES = {
  'compose.yaml': 'services: {web: {build: ., ports: ["80"], stop_grace_period: 0s}}\n',
  Dockerfile: 'FROM busybox:1.37\nCOPY greeting.txt /app/\nCMD ["sleep", "1000"]\n',
  'devctl.yml': `name: shop
dev:
  web:
    command: ["sh", "-c", "cat greeting.txt; sleep 300"]
    workdir: /app
    sync: [".:/app"]
`,
}

describe.skipIf(cluster === undefined)('the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-package-pods-'))
  const namespaces = NODE_VERSIONS.map(version => `package-${version.split('.')[0]}-${process.pid}`)
  let installed: Pick<InstalledPackage, 'devctl'>

  beforeAll(async () => {
    installed = placePackage(folder)
    for (const namespace of namespaces) await cluster!.createNamespace(namespace)
  })
  afterAll(async () => {
    for (const namespace of namespaces) await cluster!.deleteNamespace(namespace)
    cluster!.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test.each(NODE_VERSIONS)('with Node.js %s, it builds, deploys, develops and prints a platform', async version => {
    const namespace = namespaces[NODE_VERSIONS.indexOf(version)]!
    const [work, home] = [join(folder, version, 'work'), join(folder, version, 'home')]
    write(work, { ...FILES, 'greeting.txt': `from ${version}\n` })
    mkdirSync(home, { recursive: true })
    const options = {
      cwd: work,
      env: {
        PATH: nodeFolder(version) + delimiter + process.env.PATH,
        HOME: home,
        NO_COLOR: '1',
        KUBECONFIG: process.env.KUBECONFIG,
        BUILDKIT_HOST: builder,
        DEVCTL_NAMESPACE: namespace,
      },
    }
    const devctl = (...words: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(installed.devctl, words, { ...options, encoding: 'utf8' })
      expect(status, stderr).toBe(0)
      expect(stderr).not.toMatch(OF_NODE)
      return stdout
    }
    devctl('build', '--registry', REGISTRY)
    devctl('deploy', '--registry', REGISTRY, '--wait')
    expect(devctl('ps')).toContain('web')
    expect(devctl('platform', 'install', '--print', ...PLATFORM)).toContain('kind: Deployment')

    const up = spawn(installed.devctl, ['up', '--down-on-exit'], { ...options, stdio: 'pipe' })
    let shown = ''
    for (const stream of [up.stdout, up.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (shown += text))
    const ended = new Promise(resolve => up.on('close', resolve))
    const isGreeted = async () => shown.includes(`from ${version}`) || undefined
    await eventually('the command runs', isGreeted, { explain: async () => shown, seconds: 180 })
    up.kill('SIGINT')
    expect(await ended, shown).toBe(130)
    expect(shown).not.toMatch(OF_NODE)
    devctl('destroy', '--yes')
  })
})
