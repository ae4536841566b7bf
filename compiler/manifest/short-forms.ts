import { posix } from 'node:path'
import { items } from '../compose/read/tree-values.ts'
import type { ModelPath } from '../schema/model-path.ts'
import type { At } from '../text/source.ts'
import { get, isMap, type Tree } from '../text/tree.ts'
import { failed, type Parsed, parsed } from '../values/parsed.ts'
import type { DevelopmentSecret, ExternalVolume, Reverse, Sync, SyncFolder } from './development.ts'
import { Distinct } from './duplicates.ts'
import { parsePort } from './forward.ts'
import { reservedProblem } from './reserved-paths.ts'
import { parseScalar, type Reading, readFlag, readInteger } from './values.ts'

// Readers for the `A:B` lists of a development container.

/** Reads `sync`: a list of folders (compressed by default), or an object (not compressed by default). */
export function readSync(tree: Tree, path: ModelPath, reading: Reading): Sync {
  const isLong = isMap(tree)
  const listPath = isLong ? [...path, 'folders'] : path
  const list = isLong ? get(tree, 'folders') : tree
  const distinct = new Distinct(reading.reporter)
  const folders = items(list).flatMap((item, index): SyncFolder[] => {
    const found = parseScalar(item, [...listPath, index], parseSyncFolder, reading)
    if (!found) return []
    const { local, remote } = found.value
    return distinct.add(
      remote,
      found.span,
      `\`${remote}\` is synchronised`,
      'one folder of the container has one folder here',
    )
      ? [{ span: found.span, local, remote }]
      : []
  })
  const flag = (field: string) => readFlag(get(tree, field), [...path, field], reading)?.value
  return {
    folders,
    compression: flag('compression') ?? !isLong,
    verbose: flag('verbose') ?? SYNC_DEFAULTS.verbose,
    rescanInterval:
      readInteger(get(tree, 'rescanInterval'), [...path, 'rescanInterval'], reading)?.value ??
      SYNC_DEFAULTS.rescanInterval,
  }
}

/** Default settings for `sync` as a list of folders. */
export const SYNC_DEFAULTS: Omit<Sync, 'folders'> = { compression: true, verbose: false, rescanInterval: 300 }

/** Parses `LOCAL:REMOTE`. The colon after the drive letter of a Windows path does not count as the separator. */
function parseSyncFolder(text: string): Parsed<{ readonly local: string; readonly remote: string }> {
  const drive = driveOf(text)
  const at = text.indexOf(':', drive)
  if (at < 0) return failed('the folder in the container is missing', `write \`${text}:/PATH\``)
  if (at === 0) return failed('the folder on this machine is missing', `write \`.${text}\``)
  const mode = /:(?:ro|rw|z|Z|U|cached|delegated|consistent|nocopy)(?:,\w+)*$/.exec(text)
  if (mode && mode.index > at)
    return failed(`\`${mode[0]}\` is not known in \`sync\``, `write \`${text.slice(0, mode.index)}\``, [
      mode.index,
      text.length,
    ])
  const remote = remotePath(text, at + 1)
  if (!remote.ok) return remote
  const reserved = reservedProblem(remote.value)
  return reserved
    ? failed(reserved, 'choose another path', [at + 1, text.length])
    : parsed({ local: text.slice(0, at), remote: remote.value })
}

/**
 * Returns the offset after the drive letter of a Windows path (`C:\\src:/app`, `C:/src:/app`). Returns 0 if there is no
 * drive, as in `a:/src`, where `a` is a file with a one-letter name.
 */
const driveOf = (text: string) => (/^[A-Za-z]:(\\|\/[^:]*:\/)/.test(text) ? 2 : 0)

/** Parses the container path between two offsets. It must be absolute and must not be the root folder. */
function remotePath(text: string, at: number, end: number = text.length): Parsed<string> {
  const path = text.slice(at, end)
  const where = [at, end] as const
  if (!path.startsWith('/')) return failed(`\`${path}\` is not an absolute path`, `write \`/${path}\``, where)
  if (/^\/+$/.test(path))
    return failed('the root folder of the container cannot be replaced', 'name a folder below it', where)
  const plain = posix.normalize(path).replace(/(?<=.)\/+$/, '')
  if (plain === '/') return failed('`..` leads to the root folder of the container', 'choose another path', where)
  return parsed(plain)
}

/**
 * Reads `volumes`: container paths whose content is kept when the container is replaced. Reports paths that are listed
 * twice.
 */
export function readVolumes(tree: Tree | undefined, path: ModelPath, reading: Reading): readonly At<string>[] {
  const distinct = new Distinct(reading.reporter)
  return items(tree).flatMap((item, index) => {
    const found = parseScalar(item, [...path, index], parseVolume, reading)
    return found && distinct.add(found.value, found.span, `the volume \`${found.value}\` is listed`) ? [found] : []
  })
}

function parseVolume(text: string): Parsed<string> {
  if (text.includes(':'))
    return failed('it is a folder to synchronise', 'write it below `sync`, or only the path in the container here')
  return remotePath(text, 0)
}

/** Reads `externalVolumes`: `CLAIM:PATH` or `CLAIM:SUBPATH:PATH`. */
export function readExternalVolumes(
  tree: Tree | undefined,
  path: ModelPath,
  reading: Reading,
): readonly ExternalVolume[] {
  const distinct = new Distinct(reading.reporter)
  return items(tree).flatMap((item, index): ExternalVolume[] => {
    const found = parseScalar(item, [...path, index], parseExternalVolume, reading)
    if (!found) return []
    return distinct.add(found.value.mount, found.span, `\`${found.value.mount}\` is mounted`)
      ? [{ ...found.value, span: found.span }]
      : []
  })
}

function parseExternalVolume(text: string): Parsed<Omit<ExternalVolume, 'span'>> {
  const parts = text.split(':')
  const [claim = '', subPath] = parts
  if (claim === '' || parts.length < 2 || parts.length > 3)
    return failed('it is not a claim with a path', 'write `CLAIM:PATH` or `CLAIM:SUBPATH:PATH`')
  const mount = remotePath(text, text.lastIndexOf(':') + 1)
  if (!mount.ok) return mount
  return parsed({ claim, ...(parts.length === 3 && subPath && { subPath }), mount: mount.value })
}

/** Default file mode of a secret. */
const SECRET_MODE = 0o644

/**
 * Reads `secrets`: files of this machine to mount in the container. Reports files with the same name, because the name
 * is the key in the cluster's Secret.
 */
export function readSecrets(tree: Tree | undefined, path: ModelPath, reading: Reading): readonly DevelopmentSecret[] {
  const distinct = new Distinct(reading.reporter)
  return items(tree).flatMap((item, index): DevelopmentSecret[] => {
    const found = parseScalar(item, [...path, index], parseSecret, reading)
    if (!found) return []
    const name = found.value.remote.slice(found.value.remote.lastIndexOf('/') + 1)
    return distinct.add(name, found.span, `a secret file is called \`${name}\``, 'give them names that differ')
      ? [{ ...found.value, span: found.span }]
      : []
  })
}

function parseSecret(text: string): Parsed<Omit<DevelopmentSecret, 'span'>> {
  const drive = driveOf(text)
  const first = text.indexOf(':', drive)
  if (first <= 0) return failed('the path in the container is missing', `write \`${text}:/PATH\``)
  const second = text.indexOf(':', first + 1)
  const remote = remotePath(text, first + 1, second < 0 ? text.length : second)
  if (!remote.ok) return remote
  const mode = second < 0 ? undefined : text.slice(second + 1)
  if (mode !== undefined && !/^0?[0-7]{3}$/.test(mode))
    return failed(`\`${mode}\` is not a valid file mode`, 'write it in octal, such as `600`', [second + 1, text.length])
  return parsed({
    local: text.slice(0, first),
    remote: remote.value,
    mode: mode === undefined ? SECRET_MODE : Number.parseInt(mode, 8),
  })
}

/**
 * Reads `reverse`: `REMOTE:LOCAL`, which forwards a port of the container to a port of this machine. Reports container
 * ports that occur twice.
 */
export function readReverse(tree: Tree | undefined, path: ModelPath, reading: Reading): readonly Reverse[] {
  const distinct = new Distinct(reading.reporter)
  return items(tree).flatMap((item, index): Reverse[] => {
    const found = parseScalar(item, [...path, index], parseReverse, reading)
    if (!found) return []
    const { remotePort } = found.value
    return distinct.add(String(remotePort), found.span, `the port \`${remotePort}\` of the container is forwarded`)
      ? [{ ...found.value, span: found.span }]
      : []
  })
}

function parseReverse(text: string): Parsed<Omit<Reverse, 'span'>> {
  const at = text.indexOf(':')
  if (at < 0) return failed('a port is missing', 'write `REMOTE:LOCAL`, such as `9000:9000`')
  const remote = parsePort(text.slice(0, at), 0)
  if (!remote.ok) return remote
  const local = parsePort(text.slice(at + 1), at + 1)
  return local.ok ? parsed({ remotePort: remote.value, localPort: local.value }) : local
}
