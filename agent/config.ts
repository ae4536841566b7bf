/** What `up` writes into `session.json` of the session's Secret. */
export interface AgentConfig {
  readonly protocol: 1
  /** 32 random bytes, in hexadecimal: who has them is answered. */
  readonly key: string
  /** On 127.0.0.1. */
  readonly syncPort: number
  readonly sshPort: number
  /** Paths of Unix sockets to listen on in place of the ports, which would be those of the node. */
  readonly sockets?: { readonly sync: string; readonly ssh: string }
  /** ed25519: a private key of OpenSSH, and the public one of the user. */
  readonly hostKey: string
  readonly userKey: string
  /** Where the sync volume is mounted. */
  readonly volume: string
  readonly folders: readonly AgentFolder[]
  /** The agent waits for this file: the files of the image are in the volume. */
  readonly filled?: string
  /** Made when the application may start. */
  readonly ready: string
  /** Whom to become when started as root; else as the fill container has written it beside `ready`, as `user`. */
  readonly user?: { readonly uid: number; readonly gid: number }
  readonly write: 'auto' | 'rename' | 'inplace'
  /** For files that are made; else that of the image. */
  readonly umask?: number
}

export interface AgentFolder {
  readonly name: string
  /** In the volume: `src/0`. */
  readonly path: string
  /** The only file in it, which the container has mounted by itself. */
  readonly file?: string
}

/** Reads the configuration. Throws an Error if it is not one that this agent understands. */
export function readConfig(text: string): AgentConfig {
  const config = JSON.parse(text) as Partial<AgentConfig>
  if (config.protocol !== 1) throw new Error('the configuration is of another version of devctl')
  const { key, syncPort, volume, folders, ready, write } = config
  if (!/^[0-9a-f]{64}$/.test(key ?? '') || !volume || !Array.isArray(folders) || !ready || !syncPort || !write)
    throw new Error('the configuration is incomplete')
  // Complete: it comes from `up`, through a Secret.
  return config as AgentConfig
}
