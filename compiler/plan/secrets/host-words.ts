/** The kind of a text that is searched for host names; each kind has its own syntax for them. */
export type TextKind = 'variable' | 'command' | 'file'

/** A word in a text that is a host name. */
export interface HostWord {
  readonly host: string
  readonly port?: number
  /** Host as written, with its port if the port follows directly. */
  readonly written: string
  readonly index: number
  /**
   * True if only a host can appear at this position. False if the word may have another meaning, although it equals a
   * host name.
   */
  readonly isHost: boolean
}

const MOST_TEXT = 1 << 20

/**
 * Finds the words of a text that are host names, each with its port: the number after it, the default port of the URL
 * scheme before it, or the port in a nearby option or line. Skips parts of paths (`/db`, `./db`) and variable names
 * (`db=`). Ignores port numbers below 20, which are usually image versions. Finds nothing in a text longer than
 * `MOST_TEXT`.
 */
export function* hostsIn(text: string, kind: TextKind, isName: (word: string) => boolean): Generator<HostWord> {
  // A container cannot start with a longer text, and a longer word is too slow for a regular expression.
  if (text.length > MOST_TEXT) return
  for (const match of text.matchAll(/[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?/g)) {
    const { index } = match
    const members = MEMBERS.exec(text.slice(index + match[0].length, index + match[0].length + 24))
    if (members) {
      yield* membersIn(match[0].toLowerCase(), members, index, isName)
      continue
    }
    const host = match[0].toLowerCase()
    if (!isName(host)) continue
    const before = text.slice(Math.max(0, index - LONGEST_CONTEXT), index)
    const isUrl = before.endsWith('//')
    const isDevice = before.endsWith('/dev/tcp/')
    if (/[./\\$-]$/.test(before) && !isUrl && !isDevice) continue
    const rest = text.slice(index + match[0].length, index + match[0].length + LONGEST_CONTEXT)
    if (/^\s?=(?!=)/.test(rest)) continue
    // The user of a URL is not a host.
    if (isUrl && /^(?::[^\s/@'"]*)?@/.test(rest)) continue
    const digits = /^:(\d{1,5})(?![\w-]|\.\d)/.exec(rest)?.[1]
    const written = portOf(digits)
    const port = written ?? portBeside(text, kind, index, before, rest)
    yield {
      host,
      written: written === undefined ? match[0] : `${match[0]}:${digits}`,
      index,
      isHost: port !== undefined || isUrl || isDevice || isPlaceOfHost(kind, before),
      ...(port !== undefined && { port }),
    }
  }
}

/** Matches cluster members in MinIO's notation, such as `{1...4}` in `minio{1...4}`. */
const MEMBERS = /^\{(\d{1,3})\.\.\.(\d{1,3})\}(?:[:/]|$|\s)/

/** Maximum number of host names that a pattern such as `db{1...4}` is expanded to; files have fewer services. */
const MOST_MEMBERS = 64

function* membersIn(
  prefix: string,
  [pattern, first = '', last = '']: RegExpExecArray,
  index: number,
  isName: (word: string) => boolean,
): Generator<HostWord> {
  const numbers = { from: Number(first), to: Math.min(Number(last), Number(first) + MOST_MEMBERS) }
  for (let number = numbers.from; number <= numbers.to; number++) {
    const host = `${prefix}${String(number).padStart(first.startsWith('0') ? first.length : 1, '0')}`
    if (isName(host)) yield { host, written: `${prefix}${/^[^}]*\}/.exec(pattern)![0]}`, index, isHost: true }
  }
}

/** Maximum number of characters before and after a word that are used to recognize it. */
const LONGEST_CONTEXT = 120

function portOf(digits: string | undefined): number | undefined {
  const port = Number(digits)
  return port >= 20 && port <= 65535 ? port : undefined
}

/**
 * Returns the port of a host whose name is not directly followed by a port: the default port of its URL scheme, or the
 * port in a nearby argument, option or line. Returns undefined if no port is found.
 */
function portBeside(text: string, kind: TextKind, index: number, before: string, rest: string): number | undefined {
  const scheme = /([a-z][a-z0-9+.-]*):\/\/(?:[^\s/@'"]*@)?$/i.exec(before)?.[1]?.toLowerCase()
  // Only the last host can use the scheme's default port in a list of hosts.
  if (scheme !== undefined) return /^[/?"'\s]|^$/.test(rest) ? SCHEMES.get(scheme.replace(/^.*\+/, '')) : undefined
  const device = /\/dev\/tcp\/$/.test(before) ? /^\/(\d{1,5})\b/.exec(rest)?.[1] : undefined
  if (device !== undefined) return portOf(device)
  if (kind === 'variable') return undefined
  if (TOOL.test(before)) {
    const number = /^["']?\s+(\d{1,5})(?![\w.-])/.exec(rest)?.[1]
    if (number !== undefined) return portOf(number)
  }
  const option = /--([\w-]*)host[= ]["']?$/.exec(before)?.[1]
  if (option !== undefined) return portOf(new RegExp(`--${option}port[= ]["']?(\\d{1,5})(?![\\w.-])`).exec(text)?.[1])
  if (/\s-h\s*["']?$/.test(before)) return portOf(/\s-[pP]\s*["']?(\d{1,5})(?![\w.-])/.exec(lineOf(text, index))?.[1])
  return kind === 'file' && SETTING.test(before) ? portOf(portInLines(text, index)) : undefined
}

/** Returns the line of a text that contains an index. */
function lineOf(text: string, index: number): string {
  const end = text.indexOf('\n', index)
  return text.slice(text.lastIndexOf('\n', index - 1) + 1, end < 0 ? text.length : end)
}

/** Returns the value of a `port` setting in the line of a host or in the three lines before or after it. */
function portInLines(text: string, index: number): string | undefined {
  const start = text.lastIndexOf('\n', index - 1) + 1
  const following = text
    .slice(start, start + 800)
    .split('\n')
    .slice(0, 4)
  const preceding = text
    .slice(Math.max(0, start - 600), start)
    .split('\n')
    .slice(-4)
  for (const line of [...following, ...preceding.reverse()]) {
    const found = /(?:^|[\s{,;"'_.-])port["']?\s*[:=]\s*["']?(\d{1,5})(?![\w.-])/i.exec(line)?.[1]
    if (found !== undefined) return found
  }
  return undefined
}

function isPlaceOfHost(kind: TextKind, before: string): boolean {
  if (/@$/.test(before)) return true
  if (kind === 'file') return SETTING.test(before)
  return kind === 'command' && (OPTION.test(before) || TOOL.test(before))
}

/** Matches a command option before the host that is its value. */
const OPTION =
  /(?:^|\s)(?:-h|-H|--?[\w-]*(?:host|hostname|server|addr|address|broker|endpoint|listen|bind|join|peer|seed|url)s?)[=\s]["']?$/i

/** Matches a program before the argument that is a host or an address. */
const TOOL =
  /(?:^|[\s;&|(/])(?:nc|ncat|netcat|ping|curl|wget|telnet|nslookup|dig|getent\s+(?:a?hosts(?:v4)?))(?:\s+-\S+(?:\s+\d+)?)*\s+["']?$/

/** Matches the key of a setting in a file, before the host that is its value. */
const SETTING =
  /(?:^|[\n\s{,;"'_.-])(?:host|hostname|host_name|server|addr|address|broker|upstream|endpoint|listen|bind|peer|seed|node|proxy_pass)s?["']?\s*[:=]?\s*\[?\s*["']?$/i

/** Matches the name of a variable that holds a host, an address or a list of hosts or addresses. */
export const HOST_VARIABLE =
  /(?:^|_)(?:HOST|HOSTS|HOSTNAME|HOST_?NAME|SERVER|SERVERS|ADDR|ADDRESS|ADDRESSES|BROKER|BROKERS|ENDPOINT|ENDPOINTS|NODE|NODES|SEED|SEEDS|PEER|PEERS|UPSTREAM|UPSTREAMS|BIND|URL|URI|DSN)$/i

/** Default ports of URL schemes, from https://www.iana.org/assignments/uri-schemes and from database drivers. */
const SCHEMES: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
  ['amqp', 5672],
  ['amqps', 5671],
  ['redis', 6379],
  ['rediss', 6379],
  ['postgres', 5432],
  ['postgresql', 5432],
  ['mysql', 3306],
  ['mariadb', 3306],
  ['mongodb', 27017],
  ['nats', 4222],
  ['mqtt', 1883],
  ['mqtts', 8883],
  ['smtp', 25],
  ['smtps', 465],
  ['ldap', 389],
  ['ldaps', 636],
  ['ftp', 21],
  ['ssh', 22],
  ['bolt', 7687],
  ['neo4j', 7687],
  ['sqlserver', 1433],
])
