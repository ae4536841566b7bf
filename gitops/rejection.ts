/** Why a server, or the way to it, did not do what was asked. */
export type Rejection =
  /** Somebody else was faster: again, on what is there now. */
  | 'race'
  /** The connection or the server broke: again, as it may have been done. */
  | 'broken'
  /** A hook, a protection or a permission: trying again cannot help. */
  | 'refused'
  /** No way in: wrong or missing credentials. */
  | 'credentials'
  /** There is no such repository. */
  | 'missing'
  /** There is nobody at the address. */
  | 'unreachable'

/**
 * The kinds by the words of git and of servers, in the order in which they count: what a person has decided goes before what a network did. Git has no statuses
 * for these; the words are asked for in English (`LC_ALL=C`).
 */
const WORDS: readonly (readonly [Rejection, RegExp])[] = [
  [
    'race',
    /\(fetch first\)|\(non-fast-forward\)|\(stale info\)|cannot lock ref|incorrect old value provided|failed to update ref|reference already exists|Unable to create '.*\.lock'|shallow file has changed/,
  ],
  [
    'refused',
    /pre-receive hook declined|\(hook declined\)|update hook declined|protected branch|GH\d{3}:|denied by|not allowed to|prohibited|deny(ing|CurrentBranch)|branch is currently checked out|service not enabled|access denied or repository not exported|Working directory has (un)?staged changes|\[remote rejected\].*\((?!cannot lock|failed to update|incorrect)/i,
  ],
  [
    'credentials',
    /Authentication failed|could not read (Username|Password)|Permission denied \(|Host key verification failed|HTTP 401|error: 401|error: 403|HTTP 403|terminal prompts disabled|Invalid username or password|invalid credentials|Too many authentication failures/i,
  ],
  [
    'missing',
    /repository '.*' not found|does not appear to be a git repository|Repository not found|not found: did you run|error: 404|project you were looking for could not be found|no such file or directory|not a git repository/i,
  ],
  [
    'unreachable',
    /Could not resolve host|Name or service not known|Temporary failure in name resolution|nodename nor servname|Connection refused|No route to host|Network is unreachable|Failed to connect|unable to connect|SSL certificate problem|certificate verif/i,
  ],
  [
    'broken',
    /remote end hung up|early EOF|unexpected disconnect|Connection (reset|closed|timed out)|Operation timed out|RPC failed|HTTP 5\d\d|error: 5\d\d|error: 429|kex_exchange_identification|Broken pipe|index-pack|curl \d+|the remote end|bad pack|GnuTLS|unpack(er)? error|protocol error|expected flush|invalid.*pkt|read error|Empty reply/i,
  ],
]

/** Which kind of failure git tells of on standard error. What is in none of the words is a refusal: it is shown, and not tried again. */
export function classify(said: string): Rejection {
  return WORDS.find(([, pattern]) => pattern.test(said))?.[0] ?? 'refused'
}

/** The lines of git's words that a person wants to see: without progress and git's own advice. */
export function essence(said: string): readonly string[] {
  const lines = said
    .split(/[\r\n]+/)
    .map(line => line.replace(/^remote:\s?/, '').trimEnd())
    .filter(
      line => line !== '' && !/^(hint:|To |Enumerating|Counting|Compressing|Writing|Total|Delta|Resolving)/.test(line),
    )
  return [...new Set(lines)].slice(0, 12)
}
