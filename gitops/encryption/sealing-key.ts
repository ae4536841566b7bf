import { createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { reasonOf } from '../../compiler/diagnostics/system-error.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'

/**
 * Key for computing the marks of sealed values. If it was just created, no previously sealed value can be recognized.
 */
export interface SealingKey {
  /** A 32-byte key; a KeyObject, so that printing never shows the bytes. */
  readonly key: KeyObject
  readonly isNew: boolean
}

export interface SealingKeyPlace {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute path of devctl's own folder. */
  readonly home: string
}

const VARIABLE = 'DEVCTL_SEALING_KEY'
const FILE = 'sealing.key'
const KEY_BYTES = 32
const HINT = `create one with \`openssl rand -base64 ${KEY_BYTES}\``

/**
 * Returns the key in DEVCTL_SEALING_KEY, in base64 or hexadecimal digits, else the key in the file `sealing.key` of
 * devctl's folder. The file is created on first use, readable only by the user. If several processes create it at the
 * same time, all get the same key. Throws a UserError for an invalid key, and for a file that cannot be read or
 * created.
 */
export async function readSealingKey({ env, home }: SealingKeyPlace): Promise<SealingKey> {
  const given = env[VARIABLE]
  if (given) {
    const key = parseKey(given)
    if (key === undefined)
      throw new UserError(`${VARIABLE} is not a valid key: it must be ${KEY_BYTES} bytes in base64 or hexadecimal`, {
        hint: HINT,
      })
    return { key, isNew: false }
  }
  const path = join(home, FILE)
  try {
    const known = await readKeyFile(path)
    if (known !== undefined) return { key: known, isNew: false }
    await mkdir(home, { recursive: true, mode: 0o700 })
    const isNew = await makeKeyFile(path)
    // The existing file takes precedence, whichever process created it.
    return { key: (await readKeyFile(path))!, isNew }
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(`the sealing key \`${path}\` cannot be read or created: ${reasonOf(error)}`, {
      hint: `check the rights of the folder, or set ${VARIABLE}: ${HINT}`,
      cause: error,
    })
  }
}

async function readKeyFile(path: string): Promise<KeyObject | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // node throws nothing else
    if (code === 'ENOENT') return undefined
    throw error
  }
  const key = parseKey(text)
  if (key === undefined)
    throw new UserError(`\`${path}\` does not contain a sealing key`, {
      hint: 'move it away: devctl creates a new one and seals all values again',
    })
  // The file may have been restored from a backup with other permissions. If the permissions cannot be changed, the key
  // is still valid.
  if ((await stat(path)).mode & 0o077) await chmod(path, 0o600).catch(() => {})
  return key
}

/** Creates the file atomically, unless another process is faster. Returns true if this process created the file. */
async function makeKeyFile(path: string): Promise<boolean> {
  const temporary = `${path}.${randomUUID()}.tmp`
  try {
    await writeKey(temporary)
    // Unlike a rename, a link does not replace an existing file.
    await link(temporary, path)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException // node throws nothing else
    if (code === 'EEXIST') return false
    // Some file systems have no links. Writing directly leaves a moment in which other processes see an empty file.
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(code)) throw error
    await writeKey(path)
    return true
  } finally {
    await rm(temporary, { force: true })
  }
}

async function writeKey(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(KEY_BYTES).toString('base64')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

function parseKey(text: string): KeyObject | undefined {
  const word = text.trim()
  const bytes = /^[0-9a-fA-F]{64}$/.test(word)
    ? Buffer.from(word, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(word)
      ? Buffer.from(word, 'base64')
      : undefined
  return bytes && createSecretKey(bytes)
}
