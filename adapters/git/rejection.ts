import type { GitFailure } from './git.ts'

/** The reason why a git command on a server failed: the server rejected it, or the connection to it failed. */
export type Rejection =
  /** Lost a race against another push: retry on top of the current state. */
  | 'race'
  /** The connection failed or the server had an error: retry, but the push may have been carried out. */
  | 'broken'
  /** Rejected by a hook, a branch protection or a permission: a retry cannot help. */
  | 'refused'
  /** Credentials are wrong or missing. */
  | 'credentials'
  /** The repository does not exist. */
  | 'missing'
  /** The server at the address cannot be reached. */
  | 'unreachable'

/**
 * Patterns for the messages of git and of servers. The first matching pattern decides; patterns for refusals come
 * before patterns for network failures. Git has no exit statuses for these failures; `LC_ALL=C` keeps the messages in
 * English.
 */
const WORDS: readonly (readonly [Rejection, RegExp])[] = [
  // Git reports an impossible branch name, and a server that never accepts a rewritten branch, with the same message as
  // a race.
  ['refused', /exists; cannot create|denying non-fast-forward|hash algorithm/],
  [
    'race',
    /\((fetch first|non-fast-forward|stale info)\)|cannot lock ref|incorrect old value provided|reference already exists/,
  ],
  ['broken', /(returned error:|HTTP) (429|5\d\d)/],
  ['credentials', /(returned error:|HTTP) 401|Authentication failed|could not read (Username|Password)/],
  ['credentials', /Permission denied \(|Host key verification failed|Too many authentication failures/],
  [
    'refused',
    /(returned error:|HTTP) 4\d\d|\[remote rejected\]|marked as read only|dubious ownership|service not enabled/,
  ],
  ['missing', /[Rr]epository (not found|'.*' (not found|does not exist))|does not appear to be a git repository/],
  [
    'missing',
    /access denied or repository not exported|is this a git repository\?|project you were looking for could not be found/,
  ],
  // The messages of a connection that breaks may name the TLS library, too.
  [
    'broken',
    /RPC failed|early EOF|unexpected disconnect|Connection (was )?reset|SSL_(read|write)(?!.* alert )|TLS (recv|send) error|Empty reply/,
  ],
  ['unreachable', /[Cc]ould not resolve host|unable to look up|name resolution|Connection refused|No route to host/],
  [
    'unreachable',
    /Network is unreachable|Failed to connect|unable to connect|SEC_E_|CAfile|SSL CA cert|client certificate/,
  ],
  ['unreachable', /(SSL|peer) certificate|certificate (problem|verif|subject name|has expired|file|chain)/],
  ['unreachable', /SSL_connect|SSL routines|(SSL|TLS) connect error|SSL\/TLS|gnutls_handshake/],
  [
    'broken',
    /hung up|early EOF|unexpected disconnect|Connection.*(reset|closed)|timed out|RPC failed|Broken pipe|Empty reply|expected flush|Could not read from remote repository|transfer closed|(Recv|Send) failure|was not closed cleanly|unable to access/i,
  ],
]

/**
 * Returns the kind of failure that git reports on standard error. A message that matches none of the patterns is a
 * refusal: it is shown, and not retried.
 */
export function classify(said: string): Rejection {
  return known(said) ?? 'refused'
}

/**
 * Returns the kind of failure of a git command. Undefined if the command only changes files of the clone, and its
 * messages name no failure of the server.
 */
export function rejectionOf({ command, said }: Pick<GitFailure, 'command' | 'said'>): Rejection | undefined {
  return known(said) ?? (LOCAL.has(command) ? undefined : 'refused')
}

/** Commands that connect to the server only to fetch the content of files. */
const LOCAL: ReadonlySet<string> = new Set(['add', 'checkout', 'clean', 'reset', 'restore'])

function known(said: string): Rejection | undefined {
  // Any word can be part of an address.
  const words = said.replace(/'[a-z+]+:\/\/[^']*'/g, "''")
  return WORDS.find(([, pattern]) => pattern.test(words))?.[0]
}

/** Returns the lines of git's output that matter to a user: without progress and git's own advice. */
export function essence(said: string): readonly string[] {
  const lines = said
    .split(/[\r\n]+/)
    .filter(line => !/^(hint:|To \S+$)/.test(line))
    .map(line => line.replace(/^remote:\s?/, '').trimEnd())
    .filter(line => line !== '' && !PROGRESS.test(line))
  return [...new Set(lines)].slice(0, 12)
}

/** Progress messages of git. The message of a hook may begin with one of their words, so each is matched in full. */
const PROGRESS =
  /^((Enumerating|Counting|Compressing|Writing|Receiving|Unpacking) objects: |Resolving deltas: |Total \d+ \(delta |Delta compression using )/
