import { looksSecretName, wordsOf } from './secret-names.ts'

/**
 * The names in the reference of an image: without its digest, without its tag, its registry, and the parts of its path.
 */
export function namesOfImage(reference: string): readonly string[] {
  const [tagged = ''] = reference.split('@')
  const name = tagged.replace(/:[^/:]*$/, '')
  const [registry = '', ...path] = name.split('/')
  return [tagged, name, path.join('/'), ...path, registry, ...registry.split(':')]
}

/** A path, and the names of its folders. An address is none: it may have a password in it. */
export const namesOfPath = (path: string): readonly string[] =>
  /:\/\/|@/.test(path) ? [] : [path, ...path.split(/[/\\]/)]

/** A host, and its first label. */
export const namesOfHost = (host: string): readonly string[] => [host, ...host.split('.').slice(0, 1)]

/** The last words of variables that hold names: `POSTGRES_DB`, `DB_USER`, `MINIO_BUCKET`. */
const NAMING = new Set(
  `user username login owner role db database dbname schema name host hostname server domain vhost realm bucket
queue topic exchange index namespace project environment env app application service image registry repository
path dir directory folder home root file volume network cluster region tenant organization org`.split(/\s+/),
)

/** The names in the value of a variable: all of it by the variable's name, and those in an address. */
export function namesOfVariable(variable: string, value: string): readonly string[] {
  if (looksSecretName(variable)) return []
  return [...(NAMING.has(wordsOf(variable).at(-1) ?? '') ? namesOfPath(value) : []), ...namesOfAddress(value)]
}

/**
 * The user, the host and the database of an address. The user of one without a password may be a token, and the path a
 * secret.
 */
function namesOfAddress(text: string): readonly string[] {
  const [, scheme = '', user = '', password, host = '', path = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/(?:([^\s:@/]*)(?::([^\s@]*))?@)?([^\s:/?#@,]+)(?::\d+)?(?:\/([^\s?#]*))?/i.exec(text) ??
    []
  const database = /^https?$/i.test(scheme) ? [] : [path]
  return [...(password === undefined ? [] : [user]), ...namesOfHost(host), ...database]
}
