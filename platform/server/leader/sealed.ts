import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Keys by number, from the files `k1`, `k2` … in a folder. */
export type SealingKeys = ReadonlyMap<number, Buffer>

/**
 * Seals texts that are stored in records. A reader without the key learns only their length. A text that was changed,
 * or copied to another record, cannot be opened.
 */
export interface Sealing {
  /**
   * Seals a text. `associated` describes the text and the place that it belongs to. The sealed text can be opened only
   * with the same `associated` value.
   */
  seal(text: string, associated: string): string
  /**
   * Opens a sealed text. Returns undefined if the text was changed, was sealed with another `associated` value, or
   * needs a missing key.
   */
  open(sealed: string, associated: string): string | undefined
  /**
   * Returns the number of the key that is used for sealing, and the numbers of all keys that can be used for opening.
   */
  numbers(): { readonly seals: number; readonly opens: readonly number[] }
}

/** Time in milliseconds before a new key is used for sealing, because other replicas may not have its file yet. */
const UNTIL_SEALING = 180_000
/** Interval between two reads of the folder, in milliseconds. */
const LOOK = 30_000
/** Length of a key in bytes. */
const KEY = 32
const NONCE = 12
const TAG = 16
const FORM = /^v1\.k([1-9]\d{0,5})\.([A-Za-z0-9_-]+)$/

export interface KeySource {
  /** Reads the keys. Throws if they cannot be read. */
  read(): SealingKeys
  /** Returns the current time in milliseconds since 1970. */
  now(): number
}

/**
 * Returns a sealing with AES-256-GCM. The newest key seals, and all keys can open. The folder is read again regularly,
 * so keys that are added later are found. Throws an Error if there is no key at the start.
 */
export function sealingWith({ read, now }: KeySource): Sealing {
  let keys = read()
  if (keys.size === 0) throw new Error('keys: there is no key')
  let looked = now()
  const seen = new Map([...keys.keys()].map(number => [number, Number.NEGATIVE_INFINITY]))

  const look = () => {
    if (now() - looked < LOOK) return
    looked = now()
    const found = readAgain(read)
    // The folder may be empty for a moment while it is replaced, so an empty folder removes no key.
    if (found.size > 0) keys = found
    for (const number of keys.keys()) if (!seen.has(number)) seen.set(number, now())
  }
  const newest = (): readonly [number, Buffer] => {
    const all = [...keys].sort(([a], [b]) => b - a)
    return all.find(([number]) => now() - seen.get(number)! >= UNTIL_SEALING) ?? all[0]!
  }

  return {
    numbers() {
      look()
      return { seals: newest()[0], opens: [...keys.keys()].sort((a, b) => a - b) }
    },
    seal(text, associated) {
      look()
      const [number, key] = newest()
      const nonce = randomBytes(NONCE)
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG })
      cipher.setAAD(aad(number, associated))
      const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `v1.k${number}.${Buffer.concat(sealed).toString('base64url')}`
    },
    open(sealed, associated) {
      const [, digits, body = ''] = FORM.exec(sealed) ?? []
      look()
      const key = keys.get(Number(digits))
      const bytes = Buffer.from(body, 'base64url')
      if (!key || bytes.length < NONCE + TAG) return undefined
      const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE), { authTagLength: TAG })
      cipher.setAAD(aad(Number(digits), associated))
      cipher.setAuthTag(bytes.subarray(-TAG))
      try {
        return cipher.update(bytes.subarray(NONCE, -TAG)).toString() + cipher.final().toString()
      } catch {
        return undefined
      }
    },
  }
}

/**
 * Reads the keys of a folder in the format of a mounted Secret: the file `k1` contains 32 bytes in base64. Throws an
 * Error that names an invalid file, because skipping it would silently seal with another key.
 */
export function readKeys(folder: string): SealingKeys {
  const keys = new Map<number, Buffer>()
  for (const name of readdirSync(folder)) {
    const [, digits] = /^k([1-9]\d{0,5})$/.exec(name) ?? []
    if (digits === undefined) continue
    const text = readFileSync(join(folder, name), 'utf8').trim()
    const key = Buffer.from(text, 'base64')
    if (!/^[A-Za-z0-9+/]{43}=$/.test(text) || key.length !== KEY)
      throw new Error(`keys: \`${name}\` is not 32 bytes in base64`)
    keys.set(Number(digits), key)
  }
  return keys
}

function readAgain(read: () => SealingKeys): SealingKeys {
  try {
    return read()
  } catch {
    return new Map()
  }
}

const aad = (number: number, associated: string): Buffer => Buffer.from(`k${number}\0${associated}`)
