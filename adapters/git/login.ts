import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A user and password for one server. */
export interface GitLogin {
  /** `https://git.example.com`: where they are sent to, and nowhere else. */
  readonly origin: string
  readonly user: string
  readonly password: string
  /** True if the login comes from the address itself: it takes precedence over the user's own credential helpers. */
  readonly isOfAddress?: true
}

/**
 * Settings that let git ask for logins at the file descriptors of `handOver`. None of them holds a
 * password: git passes its settings on to hooks.
 */
export function loginSettings(logins: readonly GitLogin[]): readonly (readonly [key: string, value: string])[] {
  return logins.flatMap(({ origin, isOfAddress }, index) => {
    const key = `credential.${origin}.helper`
    // An empty helper takes those before it off the list.
    const emptied = isOfAddress ? [[key, ''] as const] : []
    return [...emptied, [key, helper(FIRST + index)] as const]
  })
}

const FIRST = 3

/**
 * Two lines for each question. The descriptor is shared by all processes of one command, so each of
 * them reads on where the last one has stopped.
 */
const helper = (descriptor: number) =>
  `!f() { test "$1" = get && IFS= read -r u <&${descriptor} && IFS= read -r p <&${descriptor} && printf "%s\\n%s\\n" "$u" "$p"; }; f`

/** Number of times that one git command may ask for a login: each fetch of a missing object does. */
const QUESTIONS = 500

/**
 * Opens a file descriptor for each login, for one command: a file without a name, so that a kill leaves no password on
 * the disk. Hooks would inherit an environment variable, and every user of the machine can see a command line. `close`
 * must be called when the command has been started.
 */
export function handOver(logins: readonly GitLogin[]): { readonly descriptors: readonly number[]; close(): void } {
  if (logins.length === 0) return { descriptors: [], close() {} }
  // Node makes it for this user alone (0700).
  const folder = mkdtempSync(join(tmpdir(), 'devctl-login-'))
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
