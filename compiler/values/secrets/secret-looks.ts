import { isPasswordName, isVariableWithSecret, looksSecretName, wordsOf } from './secret-names.ts'
import { type SecretLook, secretShapes } from './secret-shapes.ts'

/**
 * Returns the part of a variable's value that looks secret, with the reason: a known shape, the variable's name, or a
 * random value. Returns undefined if no part looks secret. `isKnownName` returns true for names that a variable such as
 * `TOKEN_SECRET` may refer to, for example those of services. A password may be the same as such a name.
 */
export function looksSecretVariable(
  name: string,
  value: string,
  isKnownName: (text: string) => boolean = () => false,
): SecretLook | undefined {
  const shape = looksSecretShape(value)
  if (shape) return shape
  const whole = { start: 0, end: value.length }
  if (isVariableWithSecret(name, value) && (isPasswordName(name) || !isKnownName(value)))
    return { what: 'a secret (by its name)', ...whole }
  return looksAssigned(value) ?? (isHarmlessName(name) ? undefined : looksRandom(value))
}

/**
 * Returns the first part of a text that has the shape of a secret: a private key, a URL with a password, or a token of
 * a known service.
 */
export function looksSecretShape(text: string): SecretLook | undefined {
  return secretShapes(text)[0]
}

/**
 * Returns the first part of any text (a command, a config) that looks secret, with the reason: a known shape, a name
 * with its value (`password: …`, `--token …`), or a long random word.
 */
export function looksSecretText(text: string): SecretLook | undefined {
  return looksNamedSecret(text) ?? looksRandom(text)
}

/**
 * Returns the first part of a text that looks secret, like `looksSecretText`, but ignores long random words, because
 * names of Pods look like them.
 */
export function looksNamedSecret(text: string): SecretLook | undefined {
  return looksSecretShape(text) ?? looksAssigned(text) ?? looksLikeLogin(text)
}

/** Matches a value, in quotes or up to a blank. */
const VALUE = String.raw`(?:"([^"\n]{3,256})"|'([^'\n]{3,256})'|([^\s"'\`,;]{3,256}))`
/** Matches `name: value` and `"name" = "value"`. */
const ASSIGNED = new RegExp(
  String.raw`(?<![\w$%{.-])["']?([A-Za-z][\w.-]{1,60})["']?[ \t]{0,8}[:=][ \t]{0,8}${VALUE}`,
  'g',
)
/** Matches `--name value` and `--name=value`, and the form with one dash that some programs use: `-password value`. */
const OPTION = new RegExp(String.raw`(?<![\w-])--?([A-Za-z][\w.-]{3,60})(?:=|[ \t]{1,4}(?!-))${VALUE}`, 'g')

function looksAssigned(text: string): SecretLook | undefined {
  for (const pattern of [OPTION, ASSIGNED])
    for (const match of text.matchAll(pattern)) {
      const [whole, name = '', ...values] = match
      const value = values.find(one => one !== undefined) ?? ''
      if (isComment(text, match.index) || !isVariableWithSecret(name, value) || !isLiteral(value)) continue
      const start = match.index + whole.lastIndexOf(value)
      return { what: `the value of \`${name}\``, start, end: start + value.length }
    }
  return undefined
}

/**
 * Programs with password options whose names do not indicate a password. In other programs, options with the same
 * letters have other meanings.
 */
const LOGINS: readonly { readonly program: RegExp; readonly option: RegExp }[] = [
  { program: /\bcurl\b/, option: /(?<![\w-])(?:-u|--user)[ =]{0,4}["']?[\w.@-]{1,100}:([^\s"']{1,200})/g },
  { program: /\bredis-cli\b|\bvalkey-cli\b/, option: /(?<![\w-])(?:-a|--pass)[ =]{0,4}["']?([^\s"']{3,200})/g },
  {
    program: /\b(?:mysql|mariadb)(?:admin|dump|check|import|show|-\w+)?\b/,
    option: /(?<![\w-])-p["']?([^\s"']{3,200})/g,
  },
  { program: /\bsqlcmd\b|\bmosquitto_\w+\b/, option: /(?<![\w-])-P[ =]{0,4}["']?([^\s"']{3,200})/g },
  { program: /\bmongo(?:sh|dump|restore)?\b|\bsshpass\b/, option: /(?<![\w-])-p[ =]{0,4}["']?([^\s"']{3,200})/g },
  { program: /\bldap(?:search|whoami|modify|add)\b/, option: /(?<![\w-])-w[ =]{0,4}["']?([^\s"']{3,200})/g },
]

/** Returns the first password in a command such as `curl -u name:password` or `redis-cli -a password`. */
function looksLikeLogin(text: string): SecretLook | undefined {
  for (const { program, option } of LOGINS) {
    const called = program.exec(text)
    if (!called) continue
    const [name] = called
    // The text up to the next command of a script.
    const [words = ''] = text.slice(called.index).split(/\s(?:&&|\|\|?)\s|;\s|\n/, 1)
    for (const match of words.matchAll(option)) {
      const [whole, value = ''] = match
      if (!isLiteral(value)) continue
      const end = called.index + match.index + whole.length
      return { what: `a password for \`${name}\``, start: end - value.length, end }
    }
  }
  return undefined
}

/**
 * True unless a value is a function call or a placeholder that a program replaces: `{{ .Token }}`, `%(secret)s`,
 * `<password>`, `getenv("TOKEN")`.
 */
const isLiteral = (value: string): boolean => !/[(){}<>]|%[(\w]|^[$%@&*-]|\$\w/.test(value)

const isComment = (text: string, at: number): boolean =>
  /^\s*(?:#|;|\/\/|--\s)/.test(text.slice(text.lastIndexOf('\n', at - 1) + 1, at + 1))

/** Words in names of values that are long and random but not secret: `GIT_COMMIT`, `CONFIG_SHA256`, `CLIENT_ID`. */
const HARMLESS = new Set(
  'commit sha sha1 sha256 sha512 digest checksum hash md5 integrity etag revision rev version tag id uuid guid fingerprint public image release'.split(
    ' ',
  ),
)
const isHarmlessName = (name: string): boolean => wordsOf(name).some(word => HARMLESS.has(word))

/** Matches characters of base64, base64url and hex. Without a limit, megabytes of them would exhaust the stack. */
const WORD = /[A-Za-z0-9+/_=-]{24,65536}/g
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const CERTIFICATE =
  /-----BEGIN (?:[A-Z0-9]+ )*(?:CERTIFICATE|PUBLIC KEY|CRL|PARAMETERS|REQUEST)[A-Z0-9 ]*-----[\s\S]*?-----END [^-]+-----/g
/** Matches the text before a hash, an embedded image or an SSH public key. */
const NO_SECRET_BEFORE =
  /(?:\b(?:sha1|sha224|sha256|sha384|sha512|md5|blake2b?|h1)[-:=]|@|base64,|\bssh-(?:rsa|ed25519) |ecdsa-sha2-\S+ )$/i

/**
 * Returns the first long random word of a text, such as a key in base64 or hex. Ignores digests, UUIDs, certificates
 * and public keys.
 */
export function looksRandom(text: string): SecretLook | undefined {
  const bare = text.includes('-----BEGIN') ? text.replace(CERTIFICATE, found => ' '.repeat(found.length)) : text
  for (const { 0: word, index } of bare.matchAll(WORD)) {
    if (!isRandom(word)) continue
    if (NO_SECRET_BEFORE.test(bare.slice(Math.max(0, index - 40), index))) continue
    if (isChecksumLine(bare, index, word) || isDigestName(bare, index)) continue
    return { what: 'a long random string', start: index, end: index + word.length }
  }
  return undefined
}

/** True for a line such as `HASH  file`, as checksum programs print it. */
const isChecksumLine = (text: string, at: number, word: string): boolean =>
  /^[0-9a-f]+$/i.test(word) && /^ [ *]\S/.test(text.slice(at + word.length, at + word.length + 3))

/** Returns true if the name before a word indicates a digest: `"integrity": "…"`, `commit = …`. */
function isDigestName(text: string, at: number): boolean {
  const before = /([A-Za-z][\w.-]*)["']?\s*[:=]\s*["']?$/.exec(text.slice(Math.max(0, at - 80), at))?.[1]
  return before !== undefined && isHarmlessName(before) && !looksSecretName(before)
}

/**
 * Returns true if a word looks random. In names and paths, the kind of character (lower case, upper case, digit)
 * changes only between words; in base64 it changes at about every other character. Hexadecimal digits form few ordinary
 * words of this length.
 */
function isRandom(word: string): boolean {
  if (UUID.test(word)) return false
  const text = word.replace(/=+$/, '')
  if (/^(?:[0-9a-f]+|[0-9A-F]+)$/.test(text))
    return text.length >= 32 && new Set(text).size >= 9 && /\d/.test(text) && /[a-f]/i.test(text)
  if (!/[a-z]/.test(text) || !/[A-Z]/.test(text) || !/\d/.test(text)) return false
  let changes = 0
  for (let at = 1; at < text.length; at++) {
    const [before, after] = [classOf(text[at - 1]!), classOf(text[at]!)]
    // A capital letter followed by a lower-case letter starts a word.
    if (before !== after && !(before === 'A' && after === 'a')) changes++
  }
  return changes / text.length >= 0.32 && entropy(text) >= 3.7
}

const classOf = (letter: string): string =>
  letter >= 'a' && letter <= 'z'
    ? 'a'
    : letter >= 'A' && letter <= 'Z'
      ? 'A'
      : letter >= '0' && letter <= '9'
        ? '0'
        : '-'

/** Returns the Shannon entropy of a text in bits per character. */
function entropy(text: string): number {
  const counts = new Map<string, number>()
  for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}
