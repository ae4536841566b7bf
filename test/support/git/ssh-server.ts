import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import { type Env, gitEnv } from './git.ts'
import { type Faulty, inetd } from './inetd.ts'
import type { GitServer } from './repository.ts'

export interface SshServer extends GitServer {
  /** Same as `env`, with a key that the server does not know. */
  readonly strangerEnv: Env
  /** Same as `env`, for a client that has never connected to this server. */
  readonly firstTimeEnv: Env
}

/** Returns the path of OpenSSH's server, which must be started by its full path; undefined if it is not installed. */
export function findSshd(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map(folder => join(folder, 'sshd')).find(path => existsSync(path))
}

/** Serves a bare repository by a real sshd, for this process's own user and a key made for it. */
export async function sshServer(repository: string, faulty: Faulty = {}): Promise<SshServer> {
  const sshd = findSshd()
  if (sshd === undefined) throw new Error('sshd is not installed')
  // The folder that sshd locks itself into; a package that no service manager has started yet has not made it.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const folder = mkdtempSync(join(tmpdir(), 'devctl-sshd-'))
  for (const name of ['host', 'client', 'stranger'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(folder, name)])
  writeFileSync(join(folder, 'authorized_keys'), readFileSync(join(folder, 'client.pub')))
  writeFileSync(join(folder, 'sshd_config'), serverConfig(folder))

  const { port, close } = await inetd(sshd, ['-i', '-f', join(folder, 'sshd_config'), '-E', join(folder, 'log')], {
    env: gitEnv(),
    ...faulty,
  })
  writeFileSync(join(folder, 'known_hosts'), `[127.0.0.1]:${port} ${readFileSync(join(folder, 'host.pub'), 'utf8')}`)
  writeFileSync(join(folder, 'no_hosts'), '')
  return {
    address: `ssh://${userInfo().username}@127.0.0.1:${port}${repository}`,
    repository,
    env: clientEnv(folder, 'client', 'known_hosts'),
    strangerEnv: clientEnv(folder, 'stranger', 'known_hosts'),
    firstTimeEnv: clientEnv(folder, 'client', 'no_hosts'),
    async close() {
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function serverConfig(folder: string): string {
  const { GIT_CONFIG_GLOBAL, GIT_CONFIG_NOSYSTEM } = gitEnv()
  return `${[
    `HostKey ${folder}/host`,
    `AuthorizedKeysFile ${folder}/authorized_keys`,
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'PermitRootLogin prohibit-password',
    // Temporary folders are open to others, which sshd would take for a mistake.
    'StrictModes no',
    'UsePAM no',
    // The version of git's protocol comes this way.
    'AcceptEnv GIT_PROTOCOL',
    `SetEnv GIT_CONFIG_GLOBAL=${GIT_CONFIG_GLOBAL} GIT_CONFIG_NOSYSTEM=${GIT_CONFIG_NOSYSTEM}`,
  ].join('\n')}\n`
}

function clientEnv(folder: string, key: string, hosts: string): Env {
  const options = [
    'IdentitiesOnly=yes',
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${folder}/${hosts}`,
    'GlobalKnownHostsFile=/dev/null',
  ]
  return { GIT_SSH_COMMAND: `ssh -F /dev/null -i ${folder}/${key} ${options.map(option => `-o ${option}`).join(' ')}` }
}
