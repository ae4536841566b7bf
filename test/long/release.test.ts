import { execFile, spawnSync } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { root } from '../support/cases.ts'
import { lacksExecutable } from '../support/channels/executable.ts'
import { krewProblems } from '../support/channels/krew.ts'

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const folder = mkdtempSync(join(tmpdir(), 'devctl-release-test-'))
const release = join(folder, 'release')
const make = (...words: readonly string[]) =>
  spawnSync(process.execPath, [join(root, 'scripts/release.mjs'), ...words, '--output', release], {
    env: { ...process.env, npm_config_offline: 'true' },
    encoding: 'utf8',
  })

describe.skipIf(lacksExecutable('amd64') || lacksExecutable('arm64'))('the files of a release', () => {
  beforeAll(() => {
    const { status, stderr } = make('--tag', `v${version}`)
    expect(status, stderr).toBe(0)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('a release has the package, the executables, the manifest of the plugin and the checksums', () => {
    expect(readdirSync(release).sort()).toEqual([
      'SHA256SUMS',
      `devctl-${version}.tgz`,
      'devctl-linux-amd64.tar.gz',
      'devctl-linux-arm64.tar.gz',
      'devctl.yaml',
    ])
    const { status, stdout } = spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: release, encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^(\S+: OK\n){4}$/) })
  })

  test('the manifest of the plugin fits the archives', () => {
    const plugin = parse(readFileSync(join(release, 'devctl.yaml'), 'utf8'))
    expect(krewProblems(plugin)).toEqual([])
    const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8')
    for (const { uri, sha256, bin } of plugin.spec.platforms) {
      expect(sums).toContain(`${sha256}  ${basename(uri)}\n`)
      const list = spawnSync('tar', ['-tzf', join(release, basename(uri))], { encoding: 'utf8' }).stdout.split('\n')
      // krew asks for the licence in the archive.
      expect(list).toEqual(expect.arrayContaining([bin, 'LICENSE', 'LICENSE-NODE']))
    }
  })

  test('install.sh installs the executable of the release', async () => {
    const server = createServer(({ url = '' }, response) => {
      const path = join(release, basename(url))
      if (existsSync(path)) createReadStream(path).pipe(response)
      else response.writeHead(404).end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    try {
      const env = {
        PATH: process.env.PATH!,
        DEVCTL_DOWNLOADS: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      }
      const words = [join(root, 'integrations/install.sh'), version, join(folder, 'bin')]
      const { stdout } = await promisify(execFile)('sh', words, { env, cwd: folder })
      expect(stdout).toBe(`devctl ${version} is installed in ${join(folder, 'bin')}\n`)
      const { stdout: shown } = await promisify(execFile)(join(folder, 'bin/kubectl-devctl'), ['--version'])
      expect(shown).toBe(`devctl ${version}\n`)
    } finally {
      server.close()
    }
  })

  test('nothing is made for a tag of another version', () => {
    const before = readdirSync(release)
    const { status, stderr } = make('--tag', 'v99.0.0')
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('the tag is v99.0.0') })
    expect(readdirSync(release)).toEqual(before)
  })
})
