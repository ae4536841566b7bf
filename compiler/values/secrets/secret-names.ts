/** Returns the words of a name in lower case, for names such as `DB_Password`, `apiKey` and `kc-db.secret`. */
export function wordsOf(name: string): readonly string[] {
  const separated = /[a-z]/.test(name) ? separateWords(name) : name
  return separated
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
}

const separateWords = (name: string): string =>
  name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')

const PASSWORD = new Set('password passwords passwd passphrase passcode pwd pass pw'.split(' '))
const SECRET = new Set(
  'secret secrets token tokens apikey apikeys authkey credential credentials creds dsn salt pepper privkey privkeys psk mnemonic pincode'.split(
    ' ',
  ),
)
/** Words before `KEY` that indicate a secret key; `KEY` alone may be anything. */
const KEYS = new Set(
  'api private access secret encryption encrypt enc crypto crypt fernet role signing sign master app account storage auth jwt hmac session cookie license nonce admin webhook host ssh deploy service shared aes'.split(
    ' ',
  ),
)
/**
 * Last words of names that mention a secret but contain something else, such as the path of a password file or the name
 * of a secret.
 */
const ABOUT = new Set(
  `file files path paths dir directory folder name names url uri endpoint host hostname port id ids ttl timeout lifetime expiry expires
expiration exp age days hours minutes seconds length size min max count limit limits policy rule rules enabled enable disabled disable required
type types algorithm alg algo method mode encryption issuer audience header headers field prefix suffix format encoding version provider backend store
strength rounds cost rotation interval refresh reset change changes check attempts bytes scope scopes location mount engine manager class label
user username login email hint regex pattern command cmd command source ref`.split(/\s+/),
)

/** Words that indicate a secret only at the end of a name: `JWT`, but not `JWT_LEEWAY`. */
const AT_END = new Set('jwt jwts bearer seed'.split(' '))
/**
 * Words before `SEED` in names of seeds that are not secret: for test data, for random numbers, or for the first node
 * of a cluster.
 */
const SEEDED = new Set(
  'random rand numpy torch db database data demo dev test tests fixture fixtures shuffle hash pythonhash sampling node cluster cassandra peer'.split(
    ' ',
  ),
)
/** Names under which servers store passwords without saying so: `REDIS_AUTH`, `ERLANG_COOKIE`, `SEED_PHRASE`. */
const PAIRS = new Set(
  'redis_auth valkey_auth keydb_auth erlang_cookie release_cookie seed_phrase seed_words recovery_phrase recovery_code recovery_codes'.split(
    ' ',
  ),
)

/**
 * Last words of names of both secrets and authentication schemes. A value that contains digits is usually a secret,
 * unless it matches `SCHEME`.
 */
const OPEN_ENDED = new Set(['auth', 'private', 'cookie'])
const SCHEME =
  /^(?:(?:o?auth|saml|openid|oidc|ntlm|ntlmv|krb|kerberos|md|sha|hs|rs|es|tls|x|mtls|ldap)[-_.]?\d+(?:\.\d+)?|scram-.+)$/i

/** Shell variables that hold a working directory. */
const FOLDERS = new Set(['PWD', 'OLDPWD'])

/**
 * Returns true if a name indicates that its value is secret: `DB_PASSWORD`, `API_KEY`, but not `DB_PASSWORD_FILE`,
 * `TOKEN_TTL`, `NEXT_PUBLIC_KEY`. This is the only rule about names; it decides which values devctl refuses, and which
 * values it masks in diffs and output.
 */
export function looksSecretName(name: string): boolean {
  if (FOLDERS.has(name)) return false
  const words = wordsOf(name)
  if (words.includes('public') || words.includes('publishable') || words.includes('pub')) return false
  const last = words.at(-1) ?? ''
  if (ABOUT.has(last) || words[0] === 'no' || words[0] === 'max' || words[0] === 'min') return false
  return (
    words.some((word, index) => PASSWORD.has(word) || SECRET.has(word) || runTogether(word) || isPair(words, index)) ||
    isAtEnd(words)
  )
}

const isAtEnd = (words: readonly string[]): boolean =>
  AT_END.has(words.at(-1)!) && !(words.at(-1) === 'seed' && SEEDED.has(words.at(-2) ?? ''))

const isPair = (words: readonly string[], index: number): boolean =>
  isKey(words, index) || PAIRS.has(`${words[index - 1]}_${words[index]}`)

const isKey = (words: readonly string[], index: number): boolean =>
  (words[index] === 'key' || words[index] === 'keys') && index > 0 && KEYS.has(words[index - 1]!)

/**
 * True for several words written as one that indicate a secret: `PGPASSWORD`, `USERPASS`, `authtoken`, `signingkey`.
 */
const runTogether = (word: string): boolean =>
  isPasswordRunTogether(word) ||
  /(?:auth|access|refresh|api)token$/.test(word) ||
  (word.endsWith('key') && KEYS.has(word.slice(0, -'key'.length)))

const isPasswordRunTogether = (word: string): boolean =>
  /(?:password|passwd|masterauth|.pwd)$/.test(word) ? word !== 'oldpwd' : /.pass$/.test(word) && !ENGLISH.has(word)

/** Words that end in `pass` but have nothing to do with passwords. */
const ENGLISH = new Set(
  'bypass compass encompass gyrocompass overpass underpass surpass trespass lowpass highpass bandpass allpass multipass onepass singlepass keepass'.split(
    ' ',
  ),
)

/**
 * Returns true if a variable holds a secret: its name indicates one, and its value is not one of the harmless values
 * that such variables may also hold.
 */
export function isVariableWithSecret(name: string, value: string): boolean {
  const text = value.trim()
  if (text === '' || isSwitch(text) || isReference(text)) return false
  // A URL is a secret if it contains a key, as in SENTRY_DSN=https://KEY@sentry.example.com/1. In a database URL, this
  // part is a user without a password.
  if (isPlace(text)) return /^https?:\/\/[^\s/:@]+@/i.test(text) && looksSecretName(name)
  const words = wordsOf(name)
  if (isPin(words)) return /^\d{4,}$/.test(text)
  // NEO4J_AUTH=neo4j/password contains a secret, AUTH=ldap does not.
  if (words.at(-1) === 'auth' && /^[\w.@-]+[:/]\S+$/.test(text)) return true
  if (OPEN_ENDED.has(words.at(-1)!) && /\d/.test(text) && !isMeasure(text) && !SCHEME.test(text)) return true
  if (!looksSecretName(name)) return false
  // A number is usually a count or a time.
  return !isMeasure(text) || isPasswordName(name)
}

/** True for a name that can only mean a password: `DB_PASSWORD`, `PGPASSWORD_2`, but not `DB_SECRET`. */
export function isPasswordName(name: string): boolean {
  const subject = wordsOf(name).findLast(word => /\D/.test(word)) ?? ''
  return PASSWORD.has(subject) || isPasswordRunTogether(subject)
}

/**
 * True for names that end in `PIN` or `PIN_CODE`. Such a name may also mean a pin of a board, whose number has only one
 * or two digits.
 */
const isPin = (words: readonly string[]): boolean =>
  words.at(-1) === 'pin' || (words.at(-2) === 'pin' && words.at(-1) === 'code')

export const isSwitch = (text: string): boolean =>
  /^(?:true|false|yes|no|on|off|none|null|nil|undefined|enabled?|disabled?|auto|default|required|optional|always|never)$/i.test(
    text,
  )

/** True for numbers, times and sizes. */
export const isMeasure = (text: string): boolean => /^[-+]?\d+(?:[._]\d+)*\s?(?:ms|[smhdw]|[kmgt]i?b?|%)?$/i.test(text)

/** True for a placeholder or a reference that stands for a value, such as `$NAME`, `{{ .Name }}` or `<password>`. */
const isReference = (text: string): boolean =>
  /^(?:\$\w+|\$\{[^}]*\}|\$\([^)]*\)|%\w+%|\{\{.*\}\}|<[^<>]*>|\*+|env:\w+|file:.*)$/.test(text)

/** True for paths and URLs. Passwords in URLs are found by their shape. */
const isPlace = (text: string): boolean =>
  isPath(text) || /^[A-Za-z]:\\/.test(text) || /^[a-z][a-z0-9+.-]*:\/\/\S*$/i.test(text)

/**
 * Returns true for a path. A base64 password may start with a slash, but file names rarely mix lower case, upper case
 * and digits in one word.
 */
const isPath = (text: string): boolean =>
  /^(?:~|\.{1,2})?\/[\w.@:+~/-]*$/.test(text) &&
  !text.split(/[^A-Za-z0-9+]+/).some(word => /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word))
