import { appendFileSync, chmodSync, cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { type Env, git } from '../../support/git/git.ts'
import { type HttpServer, httpServer } from '../../support/git/http-server.ts'
import { COMPOSE, manifestFor, publishing } from '../../support/git/publishing.ts'
import { bareRepository } from '../../support/git/repository.ts'
import { run } from '../../support/run.ts'
import { few, longTest } from '../../support/takes-all.ts'
import { treeAt } from './history.ts'
import { makeHooks, withConfig } from './own-git.ts'

const TOKEN = 'correct-horse-battery'
const withToken = { DEVCTL_GIT_TOKEN: TOKEN, DEVCTL_GIT_USERNAME: 'publisher' }

async function server(): Promise<HttpServer & { readonly origin: string }> {
  const bare = await bareRepository(makeFolder(), { files: { 'README.md': 'ours\n' } })
  const begun = await httpServer(bare.repository, { password: TOKEN })
  onTestFinished(() => begun.close())
  return { ...begun, origin: new URL(begun.address).origin }
}

const gotToken = ({ requests }: Pick<HttpServer, 'requests'>) => requests.some(({ headers }) => headers.authorization)

describe('DEVCTL_GIT_TOKEN', () => {
  const others: readonly (readonly [string, (origin: string) => Env, RegExp])[] = [
    ['that nothing outside of the checkout names', () => ({}), /set `DEVCTL_GIT_TOKEN_HOST=127\.0\.0\.1:\d+`/],
    [
      'that is not the one of the token',
      () => ({ DEVCTL_GIT_TOKEN_HOST: 'git.example.com' }),
      /is for `git\.example\.com` \(`DEVCTL_GIT_TOKEN_HOST`\), not for `127\.0\.0\.1:\d+`/,
    ],
    ['of another port', () => ({ DEVCTL_GIT_TOKEN_HOST: '127.0.0.1:1' }), /not for `127\.0\.0\.1:\d+`/],
    [
      'beside that of the continuous integration',
      () => ({ GITHUB_SERVER_URL: 'https://github.com' }),
      /set `DEVCTL_GIT_TOKEN_HOST=/,
    ],
  ]
  test.each(few(others, 2))('DEVCTL_GIT_TOKEN is not sent to a host %s', async (_, more, words) => {
    const begun = await server()
    const { publish } = await publishing({ server: { ...begun, env: { ...withToken, ...more(begun.origin) } } })
    const { status, stdout, stderr } = await publish()
    expect(status).toBe(1)
    expect(stderr).toMatch(/authentication failed/)
    expect(stderr).toMatch(words)
    expect(stdout + stderr).not.toContain(TOKEN)
    expect(gotToken(begun)).toBe(false)
  })

  const known: readonly (readonly [string, (origin: string) => Env])[] = [
    ['of the continuous integration', origin => ({ CI_SERVER_URL: origin })],
    ['that the user names', origin => ({ DEVCTL_GIT_TOKEN_HOST: `git.example.com, ${new URL(origin).host}` })],
  ]
  test.each(few(known))('DEVCTL_GIT_TOKEN is sent to the host %s', async (_, more) => {
    const begun = await server()
    const { publish } = await publishing({ server: { ...begun, env: { ...withToken, ...more(begun.origin) } } })
    const { status, stderr } = await publish()
    expect(status, stderr).toBe(0)
  })

  longTest('DEVCTL_GIT_TOKEN is sent to the repository of a command-line option', async () => {
    const begun = await server()
    const { publish } = await publishing({ server: { ...begun, address: 'https://evil.invalid/x', env: withToken } })
    const { status, stderr } = await publish('--repository', begun.address)
    expect(status, stderr).toBe(0)
  })

  test('DEVCTL_GIT_TOKEN is never sent over plain http', async () => {
    const env = { ...withToken, DEVCTL_GIT_TOKEN_HOST: 'gitops.invalid' }
    const asked: (string | undefined)[] = []
    const proxy = createServer(({ headers }, response) => {
      asked.push(headers.authorization)
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void proxy.close())
    await new Promise(resolve => proxy.once('listening', resolve))
    const bare = await bareRepository(makeFolder())
    const project = await publishing({ server: { ...bare, address: 'http://gitops.invalid/repository.git', env } })
    const config = { 'http.proxy': `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
    const { status, stderr } = await run(['publish', '--environment', 'staging'], {
      cwd: project.source,
      env: withConfig(project.env, config),
    })
    expect(status).toBe(1)
    expect(stderr).toMatch(/`DEVCTL_GIT_TOKEN` is not sent to `http:\/\/gitops\.invalid`: it is not https/)
    expect(asked.length).toBeGreaterThan(0)
    expect(asked.filter(Boolean)).toEqual([])
  })

  test('DEVCTL_GIT_TOKEN does not follow a redirect to another server', async () => {
    const evil = await server()
    const first = createServer((request, response) => {
      response.writeHead(302, { location: `${evil.origin}${request.url}` }).end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void first.close())
    await new Promise(resolve => first.once('listening', resolve))
    const host = `127.0.0.1:${(first.address() as AddressInfo).port}`
    const address = `http://${host}${new URL(evil.address).pathname}`
    const env = { ...withToken, DEVCTL_GIT_TOKEN_HOST: host }
    const { publish } = await publishing({ server: { ...evil, address, env } })
    expect((await publish()).status).toBe(1)
    expect(evil.requests.length).toBeGreaterThan(0)
    expect(gotToken(evil)).toBe(false)
  })

  test('DEVCTL_GIT_TOKEN is not in the environment of hooks', async () => {
    const begun = await server()
    const env = { ...withToken, DEVCTL_GIT_TOKEN_HOST: '127.0.0.1' }
    const project = await publishing({ server: { ...begun, env } })
    const seen = join(makeFolder(), 'seen')
    const all = ['pre-commit', 'pre-push', 'reference-transaction', 'commit-msg', 'post-commit', 'post-checkout']
    const names = few(all, 2)
    const script = `{ echo "$0"; env; git config --list; cat .git/config; } >>${seen}; exit 0`
    const hooks = makeHooks(Object.fromEntries(names.map(name => [name, script])))
    const { status, stderr } = await run(['publish', '--environment', 'staging'], {
      cwd: project.source,
      env: withConfig(project.env, { 'core.hooksPath': hooks }),
    })
    expect(status, stderr).toBe(0)
    const text = readFileSync(seen, 'utf8')
    for (const name of names.slice(0, 3)) expect(text).toContain(`/${name}\n`)
    expect(text).not.toContain(TOKEN)
  })
})

/** Creates a bare repository inside of the source whose hook leaves a mark, and returns the path of the mark. */
async function evilRepository(source: string, name: string): Promise<string> {
  const mark = join(makeFolder(), 'pwned')
  const bare = await bareRepository(makeFolder(), { files: { 'README.md': 'x\n' } })
  cpSync(bare.repository, join(source, name), { recursive: true })
  write(source, { [`${name}/hooks/pre-receive`]: `#!/bin/sh\ntouch ${mark}\n` })
  chmodSync(join(source, name, 'hooks/pre-receive'), 0o755)
  return mark
}

describe('a repository in the source', () => {
  const addresses: readonly (readonly [string, (source: string) => string])[] = [
    ['by its path', () => './evil.git'],
    [
      'by a link in the source',
      source => {
        symlinkSync('evil.git', join(source, 'linked'))
        return './linked'
      },
    ],
    ['by a longer path', () => 'environments/../evil.git'],
    ['by its scheme', source => `file://${source}/evil.git`],
    [
      'by a link out of the source and back',
      source => {
        const outside = join(makeFolder(), 'outside')
        symlinkSync(source, outside)
        return `${outside}/evil.git`
      },
    ],
  ]
  test.each(few(addresses, 2))('a repository named %s is refused, and no hook runs', async (_, addressFor) => {
    const { source, env, publish } = await publishing()
    const mark = await evilRepository(source, 'evil.git')
    write(source, { 'devctl.yml': manifestFor(addressFor(source)) })
    for (const words of few([[], ['--dry-run'], ['--pull-request']])) {
      const { status, stderr } = await publish(...words)
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringMatching(/is in the folder of the source, whose files devctl does not run/),
      })
    }
    const option = await run(['publish', '--repository', 'evil.git', '--path', 'x', '-f', 'compose.yaml'], {
      cwd: source,
      env,
    })
    expect(option.status).toBe(1)
    expect(existsSync(mark)).toBe(false)
  })

  test('a repository above the folder of the project is refused', async () => {
    const { source, env } = await publishing()
    const mark = await evilRepository(source, 'evil.git')
    write(source, { 'apps/shop/devctl.yml': manifestFor('../../evil.git'), 'apps/shop/compose.yaml': COMPOSE })
    const { status } = await run(['publish', '--environment', 'staging'], { cwd: join(source, 'apps/shop'), env })
    expect(status).toBe(1)
    expect(existsSync(mark)).toBe(false)
  })
})

describe('the git configuration of the source', () => {
  const programs = (mark: string): Readonly<Record<string, string>> => ({
    'core.fsmonitor': `touch ${mark}-fsmonitor; false`,
    'core.hooksPath': 'hooks',
    'core.sshCommand': `touch ${mark}-ssh; false`,
    'core.pager': `touch ${mark}-pager`,
    'core.askPass': `touch ${mark}-askpass`,
    'core.gitProxy': `touch ${mark}-proxy`,
    'credential.helper': `!touch ${mark}-helper`,
    'diff.external': `touch ${mark}-diff`,
    'filter.evil.clean': `touch ${mark}-clean; cat`,
    'filter.evil.smudge': `touch ${mark}-smudge; cat`,
    'filter.evil.process': `touch ${mark}-process`,
    'log.showSignature': 'true',
    'gpg.program': `touch ${mark}-gpg`,
    'remote.origin.url': `ext::sh -c "touch ${mark}-ext"`,
    'remote.origin.promisor': 'true',
    'remote.origin.uploadpack': `touch ${mark}-uploadpack`,
    'extensions.partialClone': 'origin',
    'protocol.ext.allow': 'always',
    'uploadpack.packObjectsHook': `touch ${mark}-pack`,
    'alias.log': `!touch ${mark}-alias`,
    'alias.status': `!touch ${mark}-alias`,
  })

  /** Returns lines of a configuration file: one process for each setting would cost more than the rest of the test. */
  const settingOf = (key: string, value: string) => {
    const [, section, subsection, name] = /^([^.]+)\.(?:(.+)\.)?([^.]+)$/.exec(key)!
    return `[${section}${subsection === undefined ? '' : ` "${subsection}"`}]\n\t${name} = ${JSON.stringify(value)}\n`
  }

  test.each(few(['publish', 'diff', 'render', 'validate', 'config', 'promote'], 3))(
    'devctl %s runs no program of the git configuration of the source',
    async command => {
      const project = await publishing()
      const { source, env, server } = project
      write(source, {
        'devctl.yml': `${manifestFor(server.address)}  production: {namespace: shop, domain: example.com, repository: "${server.address}"}\n`,
        '.gitattributes': '* filter=evil\n',
      })
      await git(source, 'add', '.')
      await git(source, 'commit', '--quiet', '--message', 'with attributes')
      // Something is published, so that the next one asks which commit is newer.
      if (command === 'publish' || command === 'promote') expect((await project.publish()).status).toBe(0)
      const marks = makeFolder()
      const settings = Object.entries(programs(join(marks, 'pwned')))
      appendFileSync(join(source, '.git/config'), settings.map(([key, value]) => settingOf(key, value)).join(''))
      write(source, { 'compose.yaml': COMPOSE.replace('1.27', '1.28') })
      for (const hook of ['post-index-change', 'pre-commit', 'reference-transaction', 'post-checkout']) {
        write(source, { [`hooks/${hook}`]: `#!/bin/sh\ntouch ${marks}/pwned-${hook}\n` })
        chmodSync(join(source, 'hooks', hook), 0o755)
      }
      const words: Readonly<Record<string, readonly string[]>> = {
        publish: ['publish', '--environment', 'staging'],
        diff: ['diff', '--against', 'manifests'],
        promote: ['promote', 'staging', 'production'],
      }
      write(source, { 'manifests/a.yaml': 'apiVersion: v1\nkind: Service\nmetadata: {name: a}\n' })
      const { status, stderr } = await run(words[command] ?? [command], { cwd: source, env })
      expect(status, stderr).toBe(0)
      expect(readdirSync(marks)).toEqual([])
      if (command === 'publish') {
        const tree = await treeAt(server.repository)
        expect(tree['environments/staging/shop/.devctl.lock'] ?? JSON.stringify(tree)).toMatch(/isDirty|dirty/)
      }
    },
  )
})
