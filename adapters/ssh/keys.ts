import ssh2 from 'ssh2'

/** An ed25519 key pair in the form in which OpenSSH writes it to files. */
export interface SshKeyPair {
  /** Private half, which stays secret. */
  readonly privateKey: string
  /** A single line: type, key and comment. */
  readonly publicKey: string
}

/**
 * Makes a key; the comment says whose it is. One in 256 keys of ssh2 cannot be read, because it takes leading zeros
 * away that belong to the key (mscdex/ssh2#1390): another one is made then.
 */
export function createSshKeyPair(comment: string): SshKeyPair {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment })
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error))
      return { privateKey: pair.private, publicKey: pair.public }
  }
}

/** The key itself, by which two are compared, without its comment; throws an error for one that is not valid. */
export function keyBytes(key: string): Buffer {
  return parsedKey(key).getPublicSSH()
}

/** The key in a text; throws an error if it is not valid. */
export function parsedKey(key: string): ssh2.ParsedKey {
  const parsed = ssh2.utils.parseKey(key)
  if (parsed instanceof Error) throw new Error(`an SSH key is not valid: ${parsed.message}`)
  return parsed
}
