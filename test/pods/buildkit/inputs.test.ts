import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { ENGINE, findBuilders, findBuildkit, findEngineAddress } from '../../support/buildkit/buildkit.ts'
import { REGISTRY } from '../../support/buildkit/slow-project.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { sshServer } from '../../support/git/ssh-server.ts'
import { run } from '../../support/run.ts'
import { few, longTest, TAKES_ALL } from '../../support/takes-all.ts'
import { listening } from './faults.ts'
import { blobOf, configOf, manifestOf } from './pushed-image.ts'

const buildkit = findBuildkit() ?? ''
const engine = findEngineAddress() ?? ''

/** Builds a service of a Compose file with devctl, and returns what its steps print. */
async function built(
  address: string,
  section: Readonly<Record<string, unknown>>,
  files: Readonly<Record<string, string>>,
  { env = {}, top = {} }: { readonly env?: Readonly<Record<string, string>>; readonly top?: object } = {},
) {
  const folder = makeFolder(files)
  // The engine of the test cluster has no separate network for the steps.
  const network = address === engine ? { network: 'host' } : {}
  write(folder, {
    'compose.yaml': JSON.stringify({ services: { web: { build: { ...network, ...section } } }, ...top }),
  })
  const name = `inputs${process.pid}-${++count}`
  const builder: Readonly<Record<string, string>> =
    address === engine ? { DOCKER_HOST: engine.slice(ENGINE.length) } : { BUILDKIT_HOST: address }
  const words = ['build', '--name', name, '--registry', `${REGISTRY}/inputs`, '--progress', 'plain']
  const { status, stdout, stderr } = await run(words, {
    cwd: folder,
    env: { DEVCTL_HOME: join(folder, '.home'), ...builder, ...env },
  })
  // The time of a line has three decimals, and the size of a download one.
  const lines = [...stderr.matchAll(/^#\d+ \d+\.\d{3} (.*)$/gm)].map(([, line]) => line)
  return { status, stderr, lines, reference: /^web: (\S+)$/m.exec(stdout)?.[1] ?? '' }
}

let count = 0

/** Returns a step that no other build has. */
const step = (command: string) => `RUN : ${Math.random()}; ${command}`
const busybox = (...lines: readonly string[]) => ['FROM busybox:1.37', ...lines, ''].join('\n')

describe.each(few(findBuilders()))('keys of `build`, with %s', (_, address) => {
  test('the build uses arguments from the shell, extra hosts, labels and the target', async () => {
    const lines = ['ARG A', 'ARG B', step('grep 10.0.0.9 /etc/hosts; echo "A=$A B=$B"')]
    const Dockerfile = `${busybox(...lines).replace('busybox:1.37', '$& AS first')}FROM first\n${step('exit 1')}\n`
    const section = {
      context: '.',
      target: 'first',
      args: ['A', 'B=$SHELL_B'],
      extra_hosts: ['db=10.0.0.9'],
      labels: { team: 'web' },
    }
    const found = await built(address, section, { Dockerfile }, { env: { A: 'one', SHELL_B: 'two' } })
    expect(found.status, found.stderr).toBe(0)
    expect(found.lines).toEqual([expect.stringMatching(/^10\.0\.0\.9\s+db$/), 'A=one B=two'])
    const { config } = await configOf(found.reference, await manifestOf(found.reference))
    expect(config['Labels']).toEqual({ team: 'web' })
  })

  test('the build uses an inline Dockerfile, secrets of a variable and a file, and tags', async () => {
    const mounts = '--mount=type=secret,id=one --mount=type=secret,id=two'
    const show = step('cat /run/secrets/one /run/secrets/two | wc -c; cat /file').replace('RUN', `RUN ${mounts}`)
    const tag = `${REGISTRY}/inputs/named:${process.pid}`
    const section = {
      context: '.',
      dockerfile_inline: busybox('COPY file /', show),
      secrets: ['one', 'two'],
      tags: [tag],
    }
    const top = { secrets: { one: { environment: 'ONE' }, two: { file: './two' } } }
    const files = { file: 'content\n', two: '12345' }
    const found = await built(address, section, files, { env: { ONE: '1234567890' }, top })
    expect(found.status, found.stderr).toBe(0)
    expect(found.lines).toEqual(['15', 'content'])
    const named = await fetch(`http://${REGISTRY}/v2/inputs/named/tags/list`)
    expect(await named.json()).toMatchObject({ tags: expect.arrayContaining([String(process.pid)]) })
  })

  longTest('the build omits the cache for a stage, or for all', async () => {
    const Dockerfile = `FROM busybox:1.37 AS one\nRUN echo one\nFROM one\nRUN echo ${Math.random()} two\n`
    await built(address, { context: '.' }, { Dockerfile })
    const words = async (section: object) => {
      const { lines } = await built(address, { context: '.', ...section }, { Dockerfile, once: String(Math.random()) })
      return lines.map(line => line?.replace(/^[\d.]+ /, ''))
    }
    expect(await words({})).toEqual([])
    expect(await words({ no_cache: true })).toEqual(['one', 'two'])
    if (address !== engine) expect(await words({ no_cache_filter: ['one'] })).toContain('one')
  })

  test('the builder fetches a context from an archive, or a repository with a branch and a folder', async () => {
    const files = { 'app/Dockerfile': `FROM scratch\nCOPY name /${Math.random()}\n`, 'app/name': 'fetched' }
    const [source, folder] = [makeFolder(files), makeFolder()]
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: source, stdio: 'pipe' })
    execFileSync('tar', ['-cf', join(folder, 'app.tar'), '-C', join(source, 'app'), '.'])
    git('init', '-q', '-b', 'trunk')
    git('add', '.')
    git('config', 'user.name', 'x')
    git('config', 'user.email', 'x@example.com')
    git('commit', '-qm', 'first')
    git('branch', 'root', String(git('commit-tree', 'trunk:app', '-m', 'root')).trim())
    git('clone', '-q', '--bare', '.', join(folder, 'app.git'))
    execFileSync('git', ['update-server-info'], { cwd: join(folder, 'app.git') })
    // The engine of the test cluster is too old for folders of repositories.
    const ref = address === engine ? 'root' : 'trunk:app'
    const server = createServer((request, response) => {
      try {
        response.end(readFileSync(join(folder, new URL(request.url!, 'http://x').pathname)))
      } catch {
        response.writeHead(404).end()
      }
    })
    await listening(server, async port => {
      const at = `http://127.0.0.1:${port}`
      for (const context of [`${at}/app.tar`, `${at}/app.git#${ref}`]) {
        const { status, stderr, reference } = await built(address, { context }, {})
        expect(status, stderr).toBe(0)
        expect((await manifestOf(reference)).layers).toHaveLength(1)
      }
      const gone = await built(address, { context: `${at}/gone.tar` }, {})
      expect(gone.status).toBe(1)
      expect(gone.stderr).toContain('error[build/')
    })
  })
})

describe.skipIf(buildkit === '')('keys of `build` that only BuildKit supports', () => {
  test('the build limits its steps, and gives them no network', async () => {
    const Dockerfile = busybox(step('df -k /dev/shm | tail -1; ulimit -Sn; ulimit -Hn; ls /sys/class/net'))
    const section = {
      context: '.',
      shm_size: '3mb',
      ulimits: { nofile: { soft: 100, hard: 200 } },
      network: 'none',
    }
    const { status, stderr, lines } = await built(buildkit, section, { Dockerfile })
    expect(status, stderr).toBe(0)
    expect(lines).toEqual([expect.stringMatching(/ 3072 .* \/dev\/shm$/), '100', '200', 'lo'])
  })

  test('a missing required secret and entitlements that the builder does not grant are refused', async () => {
    const secret = await built(
      buildkit,
      { context: '.' },
      { Dockerfile: busybox('RUN --mount=type=secret,id=x,required=true true') },
    )
    expect(secret.stderr).toContain('error[build/step-failed]')
    const Dockerfile = busybox(step('true'))
    for (const section of [{ privileged: true }, { entitlements: ['security.insecure'] }]) {
      const { status, stderr } = await built(buildkit, { context: '.', ...section }, { Dockerfile })
      expect(status).toBe(1)
      expect(stderr).toMatch(/error\[build\/failed\]: .*security\.insecure/)
    }
  })

  longTest('the build adds the provenance to the index', async () => {
    const Dockerfile = busybox(step('true'))
    const { status, stderr, reference } = await built(
      buildkit,
      { context: '.', provenance: 'mode=max', pull: true },
      { Dockerfile },
    )
    expect(status, stderr).toBe(0)
    const { manifests = [] } = await manifestOf(reference)
    const types = manifests.map(({ annotations }) => annotations?.['vnd.docker.reference.type'])
    expect(types).toEqual([undefined, 'attestation-manifest'])
    const attestation = await manifestOf(reference, manifests[1]!.digest)
    const [statement] = attestation.layers
    const { predicateType, predicate } = JSON.parse(String(await blobOf(reference, statement!)))
    expect(predicateType).toContain('slsa.dev/provenance')
    expect(JSON.stringify(predicate)).toContain('busybox')
  })

  test('DOCKER_DEFAULT_PLATFORM sets the platform and the tag, unless the file has a platform', async () => {
    const files = { Dockerfile: `FROM scratch\nCOPY Dockerfile /${Math.random()}\n` }
    const env = { DOCKER_DEFAULT_PLATFORM: 'linux/arm64' }
    const architecture = async (section: object, more: Parameters<typeof built>[3]) => {
      const { status, stderr, reference } = await built(buildkit, { context: '.', ...section }, files, more)
      expect(status, stderr).toBe(0)
      const manifest = await manifestOf(reference)
      return [(await configOf(reference, manifest)).architecture, /:(\w+)@/.exec(reference)?.[1]]
    }
    const [[plain, tag], [other, otherTag]] = [await architecture({}, {}), await architecture({}, { env })]
    expect([plain, other]).toEqual([expect.not.stringMatching('arm64'), 'arm64'])
    expect(otherTag).not.toBe(tag)
    expect(await architecture({ platforms: [`linux/${plain}`] }, { env })).toEqual([plain, expect.any(String)])
    const wrong = await built(buildkit, { context: '.' }, files, { env: { DOCKER_DEFAULT_PLATFORM: 'li nux' } })
    expect(wrong.stderr).toContain('`DOCKER_DEFAULT_PLATFORM` is `li nux`: it is not a platform')
  })
})

if (TAKES_ALL)
  test.skipIf(buildkit === '')('the builder fetches a context over SSH, with a key or the agent', async () => {
    const source = makeFolder({ Dockerfile: `FROM scratch\nCOPY Dockerfile /${Math.random()}\n` })
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: source, stdio: 'pipe' })
    git('init', '-q', '-b', 'trunk')
    git('add', '.')
    git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'first')
    const server = await sshServer(source)
    const key = / -i (\S+)/.exec(server.env['GIT_SSH_COMMAND']!)![1]!
    const socket = join(makeFolder(), 'agent')
    const agent = spawn('ssh-agent', ['-D', '-a', socket])
    try {
      await vi.waitUntil(() => existsSync(socket), { timeout: 60_000 })
      execFileSync('ssh-add', ['-q', key], { env: { ...process.env, SSH_AUTH_SOCK: socket } })
      const context = `${server.address}#trunk`
      const withAgent = await built(buildkit, { context }, {}, { env: { SSH_AUTH_SOCK: socket } })
      expect(withAgent.status, withAgent.stderr).toBe(0)
      const withKey = await built(buildkit, { context, ssh: [`default=${key}`], no_cache: true }, {})
      expect(withKey.status, withKey.stderr).toBe(0)
    } finally {
      agent.kill()
      await server.close()
    }
  })
