import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findBuildkit } from '../../support/buildkit/buildkit.ts'
import { root } from '../../support/cases.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { Program } from '../../support/cluster/program.ts'
import { everything } from '../../support/platform/everything.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { buildPlatformImage, IMAGES } from './installation.ts'

// These tests follow an operator and two users: build the image, install, log in, deploy, and remove everything.

const found = findCluster()
const builder = found && findBuildkit()
const cluster = found !== undefined && builder !== undefined && (await found.hasNodes()) ? found : undefined

const COMPOSE = `name: shop
services:
  web:
    image: nginx:1.27-alpine
    ports: ["80:80"]
    healthcheck: {http: {path: /, port: 80}, interval: 1s, retries: 100}
`

/**
 * Installs a platform with commands, uses it, and removes it. A cluster has one platform, so this comes before other
 * installations.
 */
export function wholeWay(): void {
  describe.skipIf(cluster === undefined)('devctl platform install', () => {
    const folder = mkdtempSync(join(tmpdir(), 'devctl-install-'))
    let before: ReadonlySet<string>
    let firstLine = ''

    const devctl = async (who: string, line: string, cwd = folder) => {
      const env = {
        DEVCTL_HOME: join(folder, who),
        BUILDKIT_HOST: builder!,
        // The ingress controller of the test cluster sets this.
        NODE_EXTRA_CA_CERTS: join(dirname(process.env.KUBECONFIG!), 'pki/ca.crt'),
        // Users have no kubeconfig.
        ...(who !== 'operator' && { KUBECONFIG: join(folder, 'none') }),
      }
      const program = new Program(line.split(' '), { cwd, env }).read()
      return { status: await program.status, stdout: program.stdout, stderr: program.stderr }
    }
    const ok = async (...words: Parameters<typeof devctl>) => {
      const answer = await devctl(...words)
      expect(answer.status, answer.stderr).toBe(0)
      return answer.stdout
    }
    const install = `platform install --domain devctl.localhost --image-registry ${IMAGES}`
    /** Returns the command that the user is to paste, without `devctl`. */
    const pasted = (stdout: string) => /^ {2}devctl (context use .*)$/m.exec(stdout)?.[1] ?? ''

    beforeAll(async () => {
      writeFileSync(join(folder, 'compose.yaml'), COMPOSE)
      await devctl('operator', 'platform uninstall --yes')
      await eventually('an earlier one is gone', async () =>
        (await namespaces()).includes('devctl-users') ? undefined : true,
      )
      before = await everything(cluster!)
      await buildPlatformImage(line => ok('operator', line, root))
      // Nothing here runs in it.
      const runner = join(folder, 'runner')
      mkdirSync(runner)
      writeFileSync(join(runner, 'Dockerfile'), 'FROM scratch\nCOPY Dockerfile /\n')
      await ok('operator', `build --file Dockerfile --tag ${IMAGES}/runner:0.1.0 .`, runner)
    })
    afterAll(async () => {
      await devctl('operator', 'platform uninstall --yes')
      rmSync(folder, { recursive: true })
    })

    /**
     * Returns the objects that came with the platform: not those in namespaces of other tests, and not these namespaces
     * and their volumes.
     */
    const left = async () => {
      const isOurs = (namespace = '') => namespace.startsWith('devctl-') || namespace.includes(RUN)
      const claims = '--output=jsonpath={range .items[*]}{.spec.claimRef.namespace}{"\\n"}{end}'
      const volumes = (await cluster!.kubectl('get', 'persistentvolumes', claims)).split('\n').filter(isOurs)
      const others = [...(await everything(cluster!))].filter(one => {
        const [kind = '', path = ''] = one.split(' ')
        const [namespace, name] = path.split('/')
        // The API server creates addresses for the Services of all namespaces, and deletes them itself.
        if (before.has(one) || /^(PersistentVolume|IPAddress)\./.test(kind)) return false
        return namespace === '' && !kind.startsWith('Namespace.') ? true : isOurs(namespace || name)
      })
      return [...others, ...volumes.map(namespace => `a volume of ${namespace}`)]
    }

    const namespaces = async () => {
      const list = await cluster!.get<{ items: readonly { metadata: { name: string } }[] }>('/api/v1/namespaces')
      return list.items.map(({ metadata }) => metadata.name)
    }

    test('platform install changes nothing if an image cannot be built, and succeeds once all exist', async () => {
      const { status, stderr } = await devctl('operator', `${install}-none --base-registry ${IMAGES}-none`)
      expect([status, stderr]).toEqual([1, expect.stringContaining('the build of `platform` failed: the image')])
      expect(stderr).toContain('`platform:0.1.0`, `runner:0.1.0`: building and pushing')
      expect(await namespaces()).not.toContain('devctl-users')
      firstLine = pasted(await ok('operator', install))
      expect(firstLine).toMatch(/^context use https:\/\/platform\.devctl\.localhost --token devctl_setup_\w+$/)
    })

    test('the first administrator logs in with the printed command, which works once', async () => {
      expect(await ok('root', firstLine)).toMatch(/^Using context \S+ @ platform\.devctl\.localhost\n$/)
      expect((await devctl('other', firstLine)).stderr).toContain('this link was already used, or has expired')
    })

    test('a second platform install is an upgrade and creates no second administrator', async () => {
      expect(await ok('operator', install)).toBe('The platform is at https://platform.devctl.localhost\n')
    })

    test('platform status reports no problems', async () => {
      const found = await eventually('a replica leads', async () => {
        const status = JSON.parse((await devctl('operator', 'platform status --output json')).stdout || '{}')
        return status.leader === undefined ? undefined : status
      })
      expect(found).toMatchObject({
        url: 'https://platform.devctl.localhost',
        version: '0.1.0',
        leader: expect.stringMatching(/^platform-/),
        // Builders of another test may exist.
        workloads: expect.arrayContaining([
          expect.objectContaining({ name: 'deployment/platform', ready: 1, wanted: 1 }),
        ]),
        isReachable: true,
        certificate: { names: expect.arrayContaining(['*.devctl.localhost']) },
        users: { all: 1, admins: 1 },
      })
      expect(found.networks).toEqual({ kind: 'tried', tried: expect.any(Number), reached: [] })
      const ofBuilders = ({ message }: { readonly message: string }) => message.includes('builder')
      expect(found.problems.filter((one: { readonly message: string }) => !ofBuilders(one))).toEqual([])
      expect((await devctl('operator', 'platform status')).stdout).toContain('Reachable    yes')
    })

    test('an invited user deploys to their own namespace without a kubeconfig', async () => {
      const line = pasted(await ok('operator', `platform invite bob-${RUN}`))
      expect(await ok('bob', line)).toBe(`Using context bob-${RUN} @ platform.devctl.localhost\n`)
      await ok('bob', `namespace create team-${RUN}`)
      await ok('bob', 'deploy --wait')
      const answer = await eventually('the application answers', async () => {
        const { stdout } = await devctl('bob', 'endpoints --output json')
        const url = JSON.parse(stdout || '[]')[0]?.url ?? JSON.parse(stdout || '{}').endpoints?.[0]?.url
        return url as string | undefined
      })
      expect(answer).toContain('devctl.localhost')
      expect((await devctl('root', `deploy --namespace team-${RUN}`)).stderr).toContain(
        `only the owner or a developer of \`team-${RUN}\` may deploy there`,
      )
    })

    test('platform uninstall needs --yes and leaves nothing', async () => {
      const refused = await devctl('operator', 'platform uninstall')
      expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('with everything in them')])
      await ok('operator', 'platform uninstall --yes')
      await eventually(
        'nothing of it is left',
        async () => {
          return (await left()).length === 0 || undefined
        },
        { explain: async () => (await left()).join(' '), seconds: 360 },
      )
    })
  })
}
