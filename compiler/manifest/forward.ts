import type { Pair } from '../compose/project.ts'
import { items } from '../compose/read/tree-values.ts'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import type { ModelPath } from '../schema/model-path.ts'
import type { At, Span } from '../text/source.ts'
import { entry, get, isMap, type MapTree, type Tree } from '../text/tree.ts'
import { failed, type Parsed, parsed } from '../values/parsed.ts'
import { Distinct } from './duplicates.ts'
import { known, parseScalar, type Reading, readInteger, readPairs } from './values.ts'

/** A port of this machine that is forwarded into the cluster. */
export interface Forward {
  readonly span: Span
  readonly localPort: number
  readonly remotePort: number
  /** The target service. Absent if the target is the container itself, or is selected by labels. */
  readonly service?: At<string>
  readonly labels?: readonly Pair[]
}

const target = diagnostic({
  code: 'manifest/forward-target',
  severity: 'error',
  explain: `The target of a forward is a service, selected by \`name\` or by \`labels\`, but not both. Only a forward of a development container may have neither: its target is the container.

\`\`\`yaml
forward:
  - 5432:db:5432
  - {localPort: 8080, remotePort: 80, labels: {app: web}}
\`\`\``,
  text: (p: { both: boolean }) => ({
    message: p.both ? 'a forward has both `name` and `labels`' : 'a forward has no service',
    hint: p.both ? 'remove one of them' : 'write it as `LOCAL:SERVICE:REMOTE`, or add `name: SERVICE`',
  }),
})

interface Kind {
  readonly path: ModelPath
  /** True if the target of a forward without a service is the container. */
  readonly toContainer: boolean
}

/** Reads a list of forwards, in both notations. Reports forwards with the same local port. */
export function readForwards(tree: Tree | undefined, kind: Kind, reading: Reading): readonly Forward[] {
  const distinct = new Distinct(reading.reporter)
  return items(tree).flatMap((item, index): Forward[] => {
    const path = [...kind.path, index]
    const forward = isMap(item) ? readLong(item, kind, path, reading) : readShort(item, kind, path, reading)
    const span = isMap(item) ? (get(item, 'localPort')?.span ?? item.span) : item.span
    const isNew =
      forward && distinct.add(String(forward.localPort), span, `the local port \`${forward.localPort}\` is forwarded`)
    return isNew ? [forward] : []
  })
}

function readShort(item: Tree, { toContainer }: Kind, path: ModelPath, reading: Reading): Forward | undefined {
  const found = parseScalar(item, path, text => parseForward(text, toContainer), reading)
  if (!found) return undefined
  const { localPort, service, remotePort } = found.value
  return { span: found.span, localPort, remotePort, ...(service && { service: { value: service, span: found.span } }) }
}

const KEYS = ['localPort', 'remotePort']

function readLong(item: MapTree, { toContainer }: Kind, path: ModelPath, reading: Reading): Forward | undefined {
  const localPort = readInteger(get(item, 'localPort'), [...path, 'localPort'], reading)
  const remotePort = readInteger(get(item, 'remotePort'), [...path, 'remotePort'], reading)
  const labels = entry(item, 'labels')
  const name = entry(item, 'name')
  const both = Boolean(labels && name)
  if (both || (!labels && !name && !toContainer)) {
    // An unknown key is probably a misspelling of the missing key, and has already been reported.
    if (!both && [...item.entries.keys()].some(key => !KEYS.includes(key))) return undefined
    reading.reporter.report(target, labels?.key ?? item.span, { both })
    return undefined
  }
  const service = known(item, 'name')
  return localPort && remotePort
    ? {
        span: item.span,
        localPort: localPort.value,
        remotePort: remotePort.value,
        ...(service && { service }),
        ...(labels && { labels: readPairs(labels.value, reading) }),
      }
    : undefined
}

interface ShortForward {
  readonly localPort: number
  readonly service?: string
  readonly remotePort: number
}

/** Parses `LOCAL:SERVICE:REMOTE`. With `toContainer`, also accepts `LOCAL:REMOTE`. */
export function parseForward(text: string, toContainer: boolean): Parsed<ShortForward> {
  const form = toContainer ? '`LOCAL:REMOTE` or `LOCAL:SERVICE:REMOTE`' : '`LOCAL:SERVICE:REMOTE`'
  const parts = text.split(':')
  if (parts.length > 3 || parts.length < (toContainer ? 2 : 3))
    return failed(
      parts.length === 2 ? 'the service is missing' : 'it is no forward',
      `write ${form}, such as \`${toContainer ? '8080:80' : '8080:web:80'}\``,
    )
  const [local = '', middle = ''] = parts
  const remote = parts.at(-1)!
  const localPort = parsePort(local, 0)
  if (!localPort.ok) return localPort
  const remotePort = parsePort(remote, text.length - remote.length)
  if (!remotePort.ok) return remotePort
  if (parts.length === 2) return parsed({ localPort: localPort.value, remotePort: remotePort.value })
  if (middle === '') return failed('the service is missing', `write ${form}`)
  return parsed({ localPort: localPort.value, service: middle, remotePort: remotePort.value })
}

/** Parses a port that starts at offset `at` of a longer text. */
export function parsePort(text: string, at: number): Parsed<number> {
  const where = [at, at + text.length] as const
  const port = Number(text)
  if (!/^\d+$/.test(text))
    return failed(text === '' ? 'a port is missing' : `\`${text}\` is not a valid port`, undefined, where)
  return port >= 1 && port <= 65535
    ? parsed(port)
    : failed(`port \`${text}\` is not between 1 and 65535`, undefined, where)
}
