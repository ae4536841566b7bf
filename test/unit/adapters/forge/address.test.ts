import { describe, expect, test } from 'vitest'
import { parseRepositoryAddress } from '../../../../adapters/forge/address.ts'
import type { ForgeVariables } from '../../../../adapters/forge/forge-module.ts'
import { siteOf } from '../../../../adapters/forge/site.ts'
import { tokenFor } from '../../../../adapters/forge/token.ts'
import type { ForgeKind } from '../../../../compiler/values/repository-names.ts'

describe('parseRepositoryAddress', () => {
  test.each([
    ['https://github.com/org/deploy.git', 'github.com', 'org/deploy'],
    ['https://github.com/org/deploy/', 'github.com', 'org/deploy'],
    ['https://user:secret@GitHub.com/org/deploy', 'github.com', 'org/deploy'],
    ['https://git.example.com:8443/org/deploy.git', 'git.example.com', 'org/deploy'],
    ['ssh://git@git.example.com:2222/org/deploy.git', 'git.example.com', 'org/deploy'],
    ['ssh://git@ssh.github.com:443/org/deploy.git', 'github.com', 'org/deploy'],
    ['git@altssh.gitlab.com:org/deploy.git', 'gitlab.com', 'org/deploy'],
    ['git@github.com:org/deploy.git', 'github.com', 'org/deploy'],
    ['github.com:/org/deploy', 'github.com', 'org/deploy'],
    ['git@gitlab.com:group/sub/deploy.git', 'gitlab.com', 'group/sub/deploy'],
    ['git@[::1]:org/deploy.git', '[::1]', 'org/deploy'],
    ['git://git.example.com/org/deploy.git', 'git.example.com', 'org/deploy'],
  ])('parseRepositoryAddress reads the host and the path of %s', (text, host, path) => {
    expect(parseRepositoryAddress(text)).toMatchObject({ host, path })
  })

  test.each([
    '/srv/git/deploy.git',
    './org/deploy:1',
    '../deploy',
    'deploy',
    'C:\\repositories\\deploy',
    'C:/repositories/deploy',
    'file:///srv/git/deploy.git',
    'https://github.com/org',
    'https://github.com/',
    'git@github.com:deploy.git',
    'git@host:~ann/deploy.git',
    'https://github.com/org/../deploy',
    'git@host:org/..',
    'https://',
    '',
  ])('%s is not the address of a repository on a forge', text => {
    expect(siteOf(text, {})).toBeUndefined()
  })

  test('parseRepositoryAddress keeps neither user nor password', () => {
    expect(JSON.stringify(parseRepositoryAddress('https://ann:hunter2@gitlab.com/a/b'))).not.toMatch(/ann|hunter2/)
  })
})

describe('siteOf', () => {
  test.each<[string, ForgeVariables, ForgeKind, string, string]>([
    ['git@github.com:o/r.git', {}, 'github', 'https://github.com', 'https://api.github.com'],
    ['https://corp.ghe.com/o/r', {}, 'github', 'https://corp.ghe.com', 'https://api.corp.ghe.com'],
    [
      'https://github.corp.example/o/r',
      {},
      'github',
      'https://github.corp.example',
      'https://github.corp.example/api/v3',
    ],
    ['git@gitlab.com:g/s/r.git', {}, 'gitlab', 'https://gitlab.com', 'https://gitlab.com/api/v4'],
    [
      'https://gitlab.corp.example:8443/g/r',
      {},
      'gitlab',
      'https://gitlab.corp.example:8443',
      'https://gitlab.corp.example:8443/api/v4',
    ],
    [
      'ssh://git@gitlab.corp.example:2222/g/r',
      {},
      'gitlab',
      'https://gitlab.corp.example',
      'https://gitlab.corp.example/api/v4',
    ],
    ['https://codeberg.org/o/r.git', {}, 'gitea', 'https://codeberg.org', 'https://codeberg.org/api/v1'],
    ['git@forgejo.example:o/r', {}, 'gitea', 'https://forgejo.example', 'https://forgejo.example/api/v1'],
    [
      'git@git.corp.example:o/r',
      { GITHUB_SERVER_URL: 'https://git.corp.example', GITHUB_API_URL: 'https://git.corp.example/api/v3' },
      'github',
      'https://git.corp.example',
      'https://git.corp.example/api/v3',
    ],
    [
      'git@git.corp.example:o/r',
      { GITHUB_SERVER_URL: 'https://git.corp.example', GITHUB_API_URL: 'https://git.corp.example/api/v1' },
      'gitea',
      'https://git.corp.example',
      'https://git.corp.example/api/v1',
    ],
    [
      'https://git.corp.example/o/r',
      { GITEA_SERVER_URL: 'https://git.corp.example' },
      'gitea',
      'https://git.corp.example',
      'https://git.corp.example/api/v1',
    ],
    [
      'git@ssh.corp.example:g/s/r',
      {
        CI_SERVER_URL: 'https://corp.example/gitlab',
        CI_API_V4_URL: 'https://corp.example/gitlab/api/v4',
        CI_SERVER_SHELL_SSH_HOST: 'ssh.corp.example',
      },
      'gitlab',
      'https://corp.example/gitlab',
      'https://corp.example/gitlab/api/v4',
    ],
  ])('siteOf finds the forge of %s', (address, env, kind, web, api) => {
    expect(siteOf(address, env)).toMatchObject({ kind, web, api })
  })

  test('siteOf finds a server below a path', () => {
    const env = { CI_SERVER_URL: 'https://corp.example/gitlab/' }
    expect(siteOf('https://corp.example/gitlab/g/s/r.git', env)).toMatchObject({
      path: 'g/s/r',
      api: 'https://corp.example/gitlab/api/v4',
    })
  })

  test('another port means another server', () => {
    expect(siteOf('https://corp.example:444/g/r', { CI_SERVER_URL: 'https://corp.example' })).toBeUndefined()
  })

  test('siteOf needs the kind of the forge for an unknown host', () => {
    expect(siteOf('git@git.corp.example:o/r', {})).toBeUndefined()
    expect(siteOf('git@git.corp.example:o/r', {}, 'gitea')).toMatchObject({
      kind: 'gitea',
      api: 'https://git.corp.example/api/v1',
    })
    expect(siteOf('git@git.example.org:o/r', {})).toBeUndefined()
  })

  test('siteOf refuses a group in a group on GitHub', () => {
    expect(siteOf('https://github.com/a/b/c', {})).toBeUndefined()
  })
})

describe('tokenFor', () => {
  const found = (address: string, env: ForgeVariables, forge?: ForgeKind) => tokenFor(siteOf(address, env, forge)!, env)

  test.each<[string, ForgeVariables, string]>([
    ['https://github.com/o/r', { GITHUB_TOKEN: 'g', GH_TOKEN: 'h' }, 'GITHUB_TOKEN'],
    ['https://github.com/o/r', { GH_TOKEN: 'h' }, 'GH_TOKEN'],
    [
      'https://github.com/o/r',
      { GITHUB_TOKEN: 'g', DEVCTL_FORGE_TOKEN: 'd', DEVCTL_FORGE_TOKEN_HOST: 'github.com' },
      'DEVCTL_FORGE_TOKEN',
    ],
    [
      'https://git.corp.example/o/r',
      { DEVCTL_FORGE_TOKEN: 'd', DEVCTL_GIT_TOKEN_HOST: 'a.example, git.corp.example' },
      'DEVCTL_FORGE_TOKEN',
    ],
    [
      'https://github.corp.example/o/r',
      { GITHUB_TOKEN: 'g', GH_ENTERPRISE_TOKEN: 'e', GH_HOST: 'github.corp.example' },
      'GH_ENTERPRISE_TOKEN',
    ],
    ['https://gitlab.corp.example/g/r', { GITLAB_TOKEN: 'g', GITLAB_HOST: 'gitlab.corp.example' }, 'GITLAB_TOKEN'],
    [
      'https://github.corp.example/o/r',
      { GITHUB_TOKEN: 'g', GITHUB_SERVER_URL: 'https://github.corp.example' },
      'GITHUB_TOKEN',
    ],
    ['https://gitlab.com/g/r', { GITLAB_TOKEN: 'g', CI_JOB_TOKEN: 'j' }, 'GITLAB_TOKEN'],
    ['https://codeberg.org/o/r', { FORGEJO_TOKEN: 'f', FORGEJO_TOKEN_HOST: 'codeberg.org' }, 'FORGEJO_TOKEN'],
    [
      'https://git.example/o/r',
      { GITHUB_TOKEN: 'g', GITHUB_SERVER_URL: 'https://git.example', GITEA_ACTIONS: 'true' },
      'GITHUB_TOKEN',
    ],
  ])('tokenFor chooses the variable for %s', (address, env, variable) => {
    expect(found(address, env, address.includes('git.corp') ? 'gitea' : undefined)).toMatchObject({ variable })
  })

  test.each<[string, ForgeVariables, RegExp]>([
    [
      'https://github.com/o/r',
      {},
      /^there is no token for GitHub: set `DEVCTL_FORGE_TOKEN` or `GITHUB_TOKEN` or `GH_TOKEN`$/,
    ],
    [
      'https://github.corp.example/o/r',
      { GITHUB_TOKEN: 'g' },
      /^`GITHUB_TOKEN` is not for `github.corp.example`: set `DEVCTL_FORGE_TOKEN`/,
    ],
    [
      'https://gitlab.com/g/r',
      { GITLAB_TOKEN: 'g', CI_SERVER_URL: 'https://gitlab.corp.example' },
      /^`GITLAB_TOKEN` is not for `gitlab.com`/,
    ],
    ['https://gitlab.com/g/r', { CI_JOB_TOKEN: 'j' }, /`CI_JOB_TOKEN`\) cannot open merge requests: set .*scope `api`/],
    ['http://gitea.corp.example/o/r', { GITEA_TOKEN: 'g' }, /^a token is not sent to `http:.*it is not https$/],
    // Only the checkout says that these are the user's servers.
    [
      'https://github.evil.example/o/r',
      { GH_ENTERPRISE_TOKEN: 'e' },
      /^`GH_ENTERPRISE_TOKEN` is not sent to `github.evil.example`.*set `GH_ENTERPRISE_TOKEN_HOST=github.evil.example`/,
    ],
    ['https://gitlab.evil.example/o/r', { GITLAB_TOKEN: 'g' }, /set `GITLAB_TOKEN_HOST=gitlab.evil.example`/],
    ['https://gitea.evil.example/o/r', { GITEA_TOKEN: 'g' }, /set `GITEA_TOKEN_HOST=/],
    ['https://github.com/o/r', { DEVCTL_FORGE_TOKEN: 'd' }, /set `DEVCTL_FORGE_TOKEN_HOST=github.com`/],
    [
      'https://gitlab.com/o/r',
      { DEVCTL_FORGE_TOKEN: 'd', DEVCTL_FORGE_TOKEN_HOST: 'git.corp.example' },
      /is for `git.corp.example` \(`DEVCTL_FORGE_TOKEN_HOST`\), not for `gitlab.com`/,
    ],
    ['https://github.com/o/r', { GITHUB_TOKEN: 'a\r\nhost: b' }, /^`GITHUB_TOKEN` does not hold a token/],
  ])('tokenFor gives a reason instead of a token for %s', (address, env, reason) => {
    const none = found(address, env)
    expect(none).toMatchObject({ reason: expect.stringMatching(reason) })
    expect(none.token).toBeUndefined()
  })

  test('tokenFor ignores a line end after the token', () => {
    expect(found('https://github.com/o/r', { GITHUB_TOKEN: 'abc\n' })).toMatchObject({ token: 'abc' })
  })
})
