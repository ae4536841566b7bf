import ssh2 from 'ssh2'

/** An ed25519 key pair in the file format of OpenSSH. */
export interface SshKeyPair {
  /** Private key, which must stay secret. */
  readonly privateKey: string
  /** Public key as a single line: type, key and comment. */
  readonly publicKey: string
}

/**
 * Creates a key pair; the comment names its owner. Creates another one if ssh2 cannot read the key that it has created:
 * in one of 256 keys, ssh2 removes leading zeros that belong to the key (mscdex/ssh2#1390).
 */
export function createSshKeyPair(comment: string): SshKeyPair {
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { comment })
    if (!(ssh2.utils.parseKey(pair.private) instanceof Error))
      return { privateKey: pair.private, publicKey: pair.public }
  }
}

/** Returns the bytes of a key without its comment, for comparing two keys. Throws an error if the key is invalid. */
export function keyBytes(key: string): Buffer {
  return parsedKey(key).getPublicSSH()
}

/** Parses the key in a text. Throws an error if it is invalid. */
export function parsedKey(key: string): ssh2.ParsedKey {
  const parsed = ssh2.utils.parseKey(key)
  if (parsed instanceof Error) throw new Error(`an SSH key is not valid: ${parsed.message}`)
  return parsed
}
