import { describe, expect, test } from 'vitest'
import { findBuilders } from '../../support/buildkit/buildkit.ts'
import { slowProject } from '../../support/buildkit/slow-project.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { type Asked, type Fault, type FaultyRegistry, faultyRegistry } from './faulty-registry.ts'

const builders = findBuilders()

type Request = Omit<Asked, 'wasRefused'>

const isCheck = ({ isDevctl, path }: Request) => isDevctl && path !== '/v2/'
const isPush = ({ isDevctl, path }: Request) => !isDevctl && path !== '/v2/'

const BUSY: Fault = { status: 429, headers: { 'retry-after': '2' } }

describe.each(few(builders))('a registry with faults, used by %s', (_, address) => {
  test('a busy registry is asked again after `Retry-After`, and each image is built once', async () => {
    const registry = await failing(isCheck, BUSY, 1)
    const { status, stderr } = await build(address, registry)
    expect(status, stderr).toBe(0)
    expect(stderr).toContain(`\`${registry.host}\`: attempt 2 of 3 in 2 s: the registry answers with status 429\n`)
    expect(stderr.match(/: built /g)).toHaveLength(2)
    expect(stderr).not.toContain('warning')
    const refused = registry.asked.find(({ wasRefused }) => wasRefused)!
    const again = registry.asked.find(({ path, at }) => path === refused.path && at > refused.at)!
    expect(again.at - refused.at).toBeGreaterThan(1.9)
  })

  longTest('a registry that fails every tag request still gets the images, with one warning', async () => {
    const registry = await failing(isCheck, { status: 503 })
    const { status, stderr } = await build(address, registry)
    expect(status, stderr).toBe(0)
    for (const attempt of [2, 3]) expect(stderr).toContain(`\`${registry.host}\`: attempt ${attempt} of 3 in `)
    expect(
      stderr.match(/warning: .*is failing \(status 503\), so .* has no digest; so it will be built$/gm),
    ).toHaveLength(1)
    expect(stderr.match(/: built /g)).toHaveLength(2)
  })

  longTest('a registry that cuts a connection during the push still gets the images', async () => {
    const registry = await failing(isPush, 'reset', 1)
    const { status, stderr } = await build(address, registry)
    expect(status, stderr).toBe(0)
    expect(stderr.match(/: built /g)).toHaveLength(2)
  })

  longTest('a registry that is busy at every push gets three attempts', async () => {
    const registry = await failing(isPush, BUSY)
    const { status, stderr } = await build(address, registry)
    expect(status).toBe(1)
    for (const service of ['web', 'api'])
      for (const attempt of [2, 3])
        expect(stderr).toMatch(
          new RegExp(`^${service}: attempt ${attempt} of 3: failed to push \\S+: the registry answers 429`, 'm'),
        )
    expect(stderr.match(/error\[build\/failed\]/g)).toHaveLength(1)
    expect(stderr).toContain('2 errors')
    expect(stderr).toContain(`= help: try again later, or log in: \`docker login ${registry.host}\``)
    expect(stderr.replace(/^#.*$/gm, '')).not.toMatch(/sha256:[0-9a-f]{64}/)
  })

  test('a registry that denies the login is asked once, and the login is not printed', async () => {
    const denied = { status: 401, headers: { 'www-authenticate': 'Basic realm="test"' } }
    const registry = await failing(() => true, denied)
    const auth = Buffer.from('me:wrong-password').toString('base64')
    const docker = makeFolder({ 'config.json': JSON.stringify({ auths: { [registry.host]: { auth } } }) })
    const { status, stdout, stderr } = await build(address, registry, { DOCKER_CONFIG: docker })
    expect(status).toBe(1)
    expect(stderr).not.toContain('attempt')
    expect(stderr).toContain(`= help: log in with an account that may push there: \`docker login ${registry.host}\``)
    expect(stdout + stderr).not.toMatch(new RegExp(`wrong-password|${auth}`))
    for (const isDevctl of [true, false]) {
      const sent = registry.asked.filter(one => one.isDevctl === isDevctl).map(({ authorization }) => authorization)
      expect(sent).toContain(`Basic ${auth}`)
    }
  })
})

if (TAKES_ALL)
  describe.skipIf(builders.length === 0)('a registry of base images', () => {
    test('a busy registry of base images is tried three times and reported as a failed step', async () => {
      const registry = await failing(({ path }) => path.includes('/manifests/'), BUSY)
      const [[, address]] = builders as [[string, string]]
      const project = slowProject({ address, seconds: 0, size: 1000, base: `${registry.host}/library/busybox:1.37` })
      const { status, stderr } = await project.start('build', 'web').ended
      expect(status).toBe(1)
      for (const attempt of [2, 3]) expect(stderr).toMatch(new RegExp(`^web: attempt ${attempt} of 3: .*429`, 'm'))
      expect(stderr).toMatch(/error\[build\/step-failed\]: .*429 Too Many Requests/)
    })
  })

/** Starts a registry that fails the first `times` matching requests, and forwards all others to the real one. */
function failing(
  applies: (asked: Request) => boolean,
  fault: Fault,
  times = Number.POSITIVE_INFINITY,
): Promise<FaultyRegistry> {
  let left = times
  return faultyRegistry(one => (applies(one) && left-- > 0 ? fault : undefined))
}

const build = (address: string, { host }: FaultyRegistry, env: Readonly<Record<string, string>> = {}) =>
  slowProject({ address, seconds: 0, size: 1000, registry: host, env }).start('build').ended
