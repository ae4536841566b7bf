import type { Algorithms } from 'ssh2'

/**
 * Algorithms of devctl's SSH servers and clients: modern, supported by OpenSSH since 6.5, and implemented by Node.js
 * itself. Excludes ChaCha20, which OpenSSH's clients prefer, because it is slow without ssh2's native part.
 */
export const ALGORITHMS: Algorithms = {
  kex: ['curve25519-sha256', 'curve25519-sha256@libssh.org', 'ecdh-sha2-nistp256'],
  serverHostKey: ['ssh-ed25519'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
}
