import { looksSecretName, wordsOf } from './secret-names.ts'

/**
 * Returns the names in an image reference: the reference without its digest, the name without its tag, the registry,
 * the path, and the parts of the path.
 */
export function namesOfImage(reference: string): readonly string[] {
  const [tagged = ''] = reference.split('@')
  const name = tagged.replace(/:[^/:]*$/, '')
  const [registry = '', ...path] = name.split('/')
  return [tagged, name, path.join('/'), ...path, registry, ...registry.split(':')]
}

/**
 * Returns a path, and the names of the folders and of the file in it. Returns nothing for an address, because it may
 * contain a password.
 */
export const namesOfPath = (path: string): readonly string[] =>
  /:\/\/|@/.test(path) ? [] : [path, ...path.split(/[/\\]/)]

/** Returns a host name and its first label. */
export const namesOfHost = (host: string): readonly string[] => [host, ...host.split('.').slice(0, 1)]

/** Last words of the names of variables that contain names, such as `POSTGRES_DB`, `DB_USER` and `MINIO_BUCKET`. */
const NAMING = new Set(
  `user username login owner role db database dbname schema name host hostname server domain vhost realm bucket
queue topic exchange index namespace project environment env app application service image registry repository
path dir directory folder home root file volume network cluster region tenant organization org`.split(/\s+/),
)

/**
 * Returns the names in the value of a variable: the value itself and its path components if the variable's name ends in
 * a word of `NAMING`, and the user, host and database if the value is an address. Returns none if the variable's name
 * indicates a secret.
 */
export function namesOfVariable(variable: string, value: string): readonly string[] {
  if (looksSecretName(variable)) return []
  return [...(NAMING.has(wordsOf(variable).at(-1) ?? '') ? namesOfPath(value) : []), ...namesOfAddress(value)]
}

/**
 * Returns the user, the host and the database of an address. Omits a user name without a password, because it may be a
 * token. Also omits the path of an HTTP address, because it may contain a secret.
 */
function namesOfAddress(text: string): readonly string[] {
  const [, scheme = '', user = '', password, host = '', path = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/(?:([^\s:@/]*)(?::([^\s@]*))?@)?([^\s:/?#@,]+)(?::\d+)?(?:\/([^\s?#]*))?/i.exec(text) ??
    []
  const database = /^https?$/i.test(scheme) ? [] : [path]
  return [...(password === undefined ? [] : [user]), ...namesOfHost(host), ...database]
}
