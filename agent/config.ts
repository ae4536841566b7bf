/** Configuration of the agent, which `up` writes into `session.json` of the session's Secret. */
export interface AgentConfig {
  readonly protocol: 1
  /** Key of 32 random bytes, in hexadecimal: the agent answers only clients that have this key. */
  readonly key: string
  /** Ports on 127.0.0.1: `syncPort` for file synchronization, `sshPort` for SSH. */
  readonly syncPort: number
  readonly sshPort: number
  /**
   * Paths of Unix sockets to listen on instead of the ports. They are used on the host network, where ports would be
   * ports of the node.
   */
  readonly sockets?: { readonly sync: string; readonly ssh: string }
  /** Ed25519 keys: `hostKey` is the private host key in OpenSSH format, `userKey` is the public key of the user. */
  readonly hostKey: string
  readonly userKey: string
  /** Mount path of the sync volume. */
  readonly volume: string
  readonly folders: readonly AgentFolder[]
  /** Path of a file that the agent waits for: it exists once the files of the image are in the volume. */
  readonly filled?: string
  /** Path of the file that is created when the application may start. */
  readonly ready: string
  /**
   * User that the agent switches to if it was started as root. If absent, the user that the fill container has written
   * to the file `user` next to `ready`.
   */
  readonly user?: { readonly uid: number; readonly gid: number }
  readonly write: 'auto' | 'rename' | 'inplace'
  /** File mode creation mask for new files. If absent, the mask of the image. */
  readonly umask?: number
}

export interface AgentFolder {
  readonly name: string
  /** Path in the volume, such as `src/0`. */
  readonly path: string
  /** Name of the only file in the folder, if the container mounts just that file. */
  readonly file?: string
}

/** Parses the configuration. Throws an Error if this agent does not support its version, or if fields are missing. */
export function readConfig(text: string): AgentConfig {
  const config = JSON.parse(text) as Partial<AgentConfig>
  if (config.protocol !== 1) throw new Error('the configuration is of another version of devctl')
  const { key, syncPort, volume, folders, ready, write } = config
  if (!/^[0-9a-f]{64}$/.test(key ?? '') || !volume || !Array.isArray(folders) || !ready || !syncPort || !write)
    throw new Error('the configuration is incomplete')
  // The other fields need no check: `up` writes them, and they arrive in a Secret.
  return config as AgentConfig
}
