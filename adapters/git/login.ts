import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeTemporaryFolder } from '../files/temporary-folder.ts'

/** A user and password for one server. */
export interface GitLogin {
  /** The only origin that the login is sent to: `https://git.example.com`. */
  readonly origin: string
  readonly user: string
  readonly password: string
  /**
   * True if the login was part of the repository address. It then takes precedence over the user's own credential
   * helpers.
   */
  readonly isOfAddress?: true
}

/** Returns true if a user or a password can be handed over to git, which reads each of them as one line. */
export const isOneLine = (text: string): boolean => !/\p{Cc}/u.test(text)

/**
 * Returns settings that make git read the logins from the file descriptors of `handOver`. The settings contain no
 * password, because git passes its settings on to hooks.
 */
export function loginSettings(logins: readonly GitLogin[]): readonly (readonly [key: string, value: string])[] {
  return logins.flatMap(({ origin, isOfAddress }, index) => {
    const key = `credential.${origin}.helper`
    // An empty value removes the helpers listed before it.
    const emptied = isOfAddress ? [[key, ''] as const] : []
    return [...emptied, [key, helper(FIRST + index)] as const]
  })
}

const FIRST = 3

/**
 * Returns a credential helper that reads two lines for each request. All processes of a command share the descriptor
 * and its position, so each process continues where the previous one stopped.
 */
const helper = (descriptor: number) =>
  `!f() { test "$1" = get && IFS= read -r u <&${descriptor} && IFS= read -r p <&${descriptor} && printf "%s\\n%s\\n" "$u" "$p"; }; f`

/** Maximum number of login requests of one git command: each fetch of a missing object requests the login. */
const QUESTIONS = 500

/**
 * Opens a file descriptor for each login, which one git command inherits. Each descriptor refers to an unlinked file,
 * so no password stays on the disk if devctl is killed. Other ways are less safe: hooks would inherit an environment
 * variable, and every user of the machine can see a command line. Call `close` after starting the command.
 */
export function handOver(logins: readonly GitLogin[]): { readonly descriptors: readonly number[]; close(): void } {
  if (logins.length === 0) return { descriptors: [], close() {} }
  const folder = makeTemporaryFolder('devctl-login-')
  const descriptors: number[] = []
  try {
    for (const [index, { user, password }] of logins.entries()) {
      const path = join(folder, String(index))
      writeFileSync(path, `username=${user}\npassword=${password}\n`.repeat(QUESTIONS), { mode: 0o600 })
      descriptors.push(openSync(path, 'r'))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { descriptors, close: () => descriptors.forEach(closeSync) }
}
