import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { changeFile, readText } from '../../adapters/files/locked-file.ts'

/** Connection data for an OpenSSH client of a development container. */
export interface SshEntry {
  readonly dev: string
  readonly namespace: string
  readonly cluster: SshCluster
  readonly port: number
  /** Public key of the server. */
  readonly hostKey: string
  /** Private key of the client. */
  readonly userKey: string
}

/** Identity of a cluster, because two clusters can have a namespace with the same name. */
export interface SshCluster {
  /** Unique ID, used in file names. */
  readonly id: string
  /** Display name: the name of the cluster's context. */
  readonly name: string
}

/** An entry that has been written to devctl's SSH configuration. */
export interface WrittenEntry {
  /** Host name for `ssh`: `api.devctl`. */
  readonly host: string
  /** Removes the entry and its keys, unless a later session has replaced them. */
  remove(): Promise<void>
}

const END = '# devctl: end'

/** Returns the path of the file with the entries of all sessions of this user. */
export const sshConfigFile = (home: string): string => join(home, 'ssh', 'config')

/**
 * Writes the entry of a session and its keys to devctl's own file. Replaces an older entry with the same name,
 * namespace and cluster, and removes the entries of sessions that were killed. `home` is devctl's own folder. Throws a
 * UserError if the file cannot be written.
 */
export async function writeSshEntry(home: string, entry: SshEntry): Promise<WrittenEntry> {
  const { dev } = entry
  const folder = join(home, 'ssh')
  const begin = `# devctl: ${dev} ${entry.namespace} ${process.pid} ${entry.cluster.id} ${labelOf(entry.cluster)}`
  await change(home, async text => {
    await writePrivate(keyFile(folder, entry), entry.userKey)
    await writePrivate(hostsFile(folder, entry), `${fullHostOf(entry)} ${entry.hostKey}\n`)
    const others = blocksOf(text).filter(block => !isSame(block, entry) && isRunning(block.process))
    return named(blocksOf([...others.map(({ text }) => text), blockOf(begin, folder, entry)].join('\n')))
  })
  return {
    host: hostOf(dev),
    remove: () =>
      change(home, async text => {
        const blocks = blocksOf(text)
        const kept = blocks.filter(block => block.begin !== begin)
        if (kept.length === blocks.length) return undefined
        for (const file of [keyFile(folder, entry), hostsFile(folder, entry)]) await rm(file, { force: true })
        return named(kept)
      }),
  }
}

/** Identity of a development container; containers in different namespaces or clusters can have the same name. */
type Named = Pick<SshEntry, 'dev' | 'namespace'> & { readonly cluster: Pick<SshCluster, 'id'> }

/** Returns the host name for `ssh`: `api.devctl`. */
export const hostOf = (dev: string): string => `${dev}.devctl`
const fullHostOf = ({ dev, namespace }: Pick<Named, 'dev' | 'namespace'>): string => `${dev}.${namespace}.devctl`
const fileOf = ({ dev, namespace, cluster }: Named): string => `${dev}.${namespace}.${cluster.id}`
const keyFile = (folder: string, entry: Named): string => join(folder, `${fileOf(entry)}.key`)
const hostsFile = (folder: string, entry: Named): string => join(folder, `${fileOf(entry)}.known_hosts`)
const isSame = (a: Named, b: Named): boolean => fileOf(a) === fileOf(b)

/**
 * Returns the text of the entries, the newest last. Among entries of the same name, only the newest one gets the short
 * host name. Among entries of the same name and namespace, only the newest one gets the host name with the namespace,
 * and each one gets a host name with its cluster.
 */
function named(blocks: readonly Block[]): string {
  const texts = blocks.map((block, index) => {
    const isNewest = (isOther: (one: Block) => boolean) => !blocks.slice(index + 1).some(isOther)
    const isBeside = (one: Block) => fullHostOf(one) === fullHostOf(block)
    const beside = blocks.filter(one => one !== block && isBeside(one))
    const hosts = [
      ...(isNewest(({ dev }) => dev === block.dev) ? [hostOf(block.dev)] : []),
      ...(isNewest(isBeside) ? [fullHostOf(block)] : []),
      ...(beside.length > 0 ? [clusterHostOf(block, beside)] : []),
    ]
    return block.text.replace(/^Host .*$/m, `Host ${hosts.join(' ')}`)
  })
  return texts.join('\n')
}

/**
 * Returns the host name that includes the cluster. Adds the cluster ID if another cluster has the same name, which is
 * possible if the contexts are in different kubeconfigs.
 */
function clusterHostOf({ dev, namespace, cluster }: Block, beside: readonly Block[]): string {
  const isShared = beside.some(one => one.cluster.name === cluster.name)
  const label = isShared ? `${cluster.name}-${cluster.id}` : cluster.name
  return `${dev}.${namespace}.${label}.devctl`
}

/** Returns the name of a cluster as part of a host name. */
const labelOf = ({ name }: SshCluster): string =>
  name.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^[.-]+|[.-]+$/g, '') || 'cluster'

const change = (home: string, edit: (text: string) => Promise<string | undefined>): Promise<void> =>
  changeFile(sshConfigFile(home), {
    shown: sshConfigFile(home),
    isPrivate: true,
    edit: text => edit(text ?? ''),
  })

/**
 * Writes a file that only the user can read. Replaces an existing file instead of overwriting it, because OpenSSH
 * refuses a key that others can read, and the existing file could have another mode.
 */
async function writePrivate(path: string, text: string): Promise<void> {
  await rm(path, { force: true })
  await writeFile(path, text, { mode: 0o600, flag: 'wx' })
}

function blockOf(begin: string, folder: string, entry: SshEntry): string {
  return `${begin}
Host ${fullHostOf(entry)}
  HostName 127.0.0.1
  Port ${entry.port}
  User devctl
  IdentityFile ${inQuotes(keyFile(folder, entry))}
  IdentitiesOnly yes
  HostKeyAlias ${fullHostOf(entry)}
  UserKnownHostsFile ${inQuotes(hostsFile(folder, entry))}
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  UpdateHostKeys no
  ProxyCommand none
${END}
`
}

/** Quotes a path for ssh_config(5), where `%` starts a token. */
const inQuotes = (path: string): string => `"${path.replaceAll('%', '%%')}"`

interface Block {
  readonly begin: string
  readonly dev: string
  readonly namespace: string
  readonly cluster: SshCluster
  readonly process: number
  readonly text: string
}

/** Parses the entries of the file; text between entries is discarded. */
function blocksOf(text: string): readonly Block[] {
  const found = text.matchAll(/^(# devctl: (\S+) (\S+) (\d+) (\S+) (\S+))\n[\s\S]*?^# devctl: end\n/gm)
  return [...found].map(([text, begin, dev, namespace, process, id, name]) => ({
    begin: begin!,
    dev: dev!,
    namespace: namespace!,
    cluster: { id: id!, name: name! },
    process: Number(process),
    text,
  }))
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    // The process exists, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * State of the `Include` line: OpenSSH reads devctl's file, the user has declined, or the user has not been asked yet.
 */
export type IncludeState = 'included' | 'declined' | 'unasked'

/**
 * Returns the state of the `Include` line, read from the user's ~/.ssh/config and from the stored answer. Throws the
 * errors of node:fs.
 */
export function includeState(home: string, userHome: string): IncludeState {
  const line = includeLine(home, userHome)
  const lines = (readText(userConfig(userHome)) ?? '').split(/\r?\n/).map(one => one.trim())
  if (lines.includes(line) || lines.includes(`Include ${inQuotes(sshConfigFile(home))}`)) return 'included'
  return readText(declined(home)) === undefined ? 'unasked' : 'declined'
}

/**
 * Applies the user's answer: adds one line at the beginning of ~/.ssh/config, where it applies to all hosts, and
 * changes nothing else; or stores that the user should not be asked again. Throws a UserError if a file cannot be
 * written.
 */
export async function answerInclude(home: string, userHome: string, isWanted: boolean): Promise<void> {
  if (!isWanted) {
    const edit = () => 'the file ~/.ssh/config shall not include config\n'
    return changeFile(declined(home), { shown: declined(home), isPrivate: true, edit })
  }
  const line = includeLine(home, userHome)
  await changeFile(userConfig(userHome), {
    shown: '~/.ssh/config',
    isPrivate: false,
    edit: (text = '') => (includeState(home, userHome) === 'included' ? undefined : `${line}\n${text && `\n${text}`}`),
  })
}

const userConfig = (userHome: string): string => join(userHome, '.ssh', 'config')
const declined = (home: string): string => join(home, 'ssh', 'not-included')

/** Returns the `Include` line, with `~` for the home folder if possible. */
export function includeLine(home: string, userHome: string): string {
  const file = sshConfigFile(home)
  const isWithin = file.startsWith(`${userHome}/`)
  return isWithin && !/[\s"%]/.test(file.slice(userHome.length))
    ? `Include ~${file.slice(userHome.length)}`
    : `Include ${inQuotes(file)}`
}
