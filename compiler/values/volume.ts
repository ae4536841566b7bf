import { normalize } from 'node:path/posix'
import { failed, type Parsed, parsed } from './parsed.ts'

/** The parts of a mount in short form. Offsets refer to the parsed text. */
export interface ShortVolume {
  /** Type of the mount: `bind` if the source is a path, and otherwise `volume`. A missing path is created. */
  readonly type: 'volume' | 'bind'
  /** Source as written; absent for an anonymous volume. */
  readonly source?: string
  readonly sourceAt?: readonly [start: number, end: number]
  /** Path in the container, cleaned (`/d/` becomes `/d`), but not necessarily absolute. */
  readonly target: string
  readonly targetAt: readonly [start: number, end: number]
  readonly readOnly: boolean
  readonly nocopy: boolean
  readonly propagation?: string
  readonly selinux?: 'z' | 'Z'
  /** Options without a meaning, which the reference loader silently ignores. */
  readonly unknownOptions: readonly string[]
}

/**
 * Parses the short form of a mount, `[source:]target[:options]`. The reference loader treats a source of one letter as
 * a Windows drive. devctl treats it as a volume, which may be declared in another file. A path that starts with a drive
 * is accepted if a container path follows and `isDeclared` returns false for the drive. (Compose Specification,
 * services, volumes, short syntax)
 */
export function parseVolume(text: string, isDeclared: (name: string) => boolean): Parsed<ShortVolume> {
  if (text === '') return failed('it is empty', 'write `SOURCE:TARGET`, or the path of an anonymous volume')
  const parts = joinDrive(splitColons(text), isDeclared)
  const empty = parts.find(part => part.text === '')
  if (empty) {
    return failed('one side of a colon is empty', 'write `SOURCE:TARGET`, and check for variables without a value', [
      Math.max(0, empty.start - 1),
      Math.min(text.length, empty.start + 1),
    ])
  }
  if (parts.length > 3) {
    const extra = parts[3]!.start - 1
    return failed('it has too many colons', 'write `SOURCE:TARGET:OPTIONS`, options separated by commas', [
      extra,
      text.length,
    ])
  }

  const [source, target, options] = parts.length === 1 ? [undefined, parts[0]!, undefined] : parts
  const windows = windowsPath(parts)
  if (windows) return failed(`\`${text.slice(...windows)}\` is a Windows path`, 'write a path such as `/data`', windows)
  return parsed({
    type: source && isPath(source.text) ? 'bind' : 'volume',
    ...(source && { source: source.text, sourceAt: place(source) }),
    target: clean(target!.text),
    targetAt: place(target!),
    ...readOptions(options?.text ?? ''),
  })
}

interface Part {
  readonly text: string
  readonly start: number
}

const PROPAGATION = new Set(['rprivate', 'private', 'rshared', 'shared', 'rslave', 'slave'])
/** Hints for Docker Desktop's file sharing, which have had no effect for years. */
const CONSISTENCY = new Set(['cached', 'delegated', 'consistent'])
const OPTION_WORDS = new Set(['ro', 'rw', 'z', 'Z', 'nocopy', ...PROPAGATION, ...CONSISTENCY])

/** Splits a text at colons outside `${…}`, which remains in the text if variables are not substituted. */
function splitColons(text: string): Part[] {
  const parts: Part[] = []
  let start = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '{' && text[at - 1] === '$') depth++
    else if (text[at] === '}' && depth > 0) depth--
    else if (text[at] === ':' && depth === 0) {
      parts.push({ text: text.slice(start, at), start })
      start = at + 1
    }
  }
  return [...parts, { text: text.slice(start), start }]
}

/**
 * Joins the drive and the folder of a Windows path again (`C` and `\folder`), if the drive is not a declared volume and
 * a container path follows.
 */
function joinDrive(parts: Part[], isDeclared: (name: string) => boolean): Part[] {
  const [drive, rest, target] = parts
  if (!drive || !rest || !target || !isLetter(drive.text) || isDeclared(drive.text)) return parts
  if (!/^[\\/]/.test(rest.text) || !target.text.startsWith('/')) return parts
  return [{ text: `${drive.text}:${rest.text}`, start: drive.start }, ...parts.slice(2)]
}

/**
 * Returns the range of a Windows path that was written instead of the container path, as in `C:\folder` or
 * `data:C:/folder`; undefined if there is none.
 */
function windowsPath([first, second, third]: readonly Part[]): readonly [number, number] | undefined {
  const startsAt = (drive: Part | undefined, rest: Part | undefined, slash: RegExp) =>
    drive && rest && isLetter(drive.text) && slash.test(rest.text)
  // Without a backslash, the source may be a volume with a name of one letter: `c:/folder`.
  if (startsAt(first, second, /^\\/)) return [first!.start, place(second!)[1]]
  return startsAt(second, third, /^[\\/]/) ? [second!.start, place(third!)[1]] : undefined
}

function readOptions(
  text: string,
): Pick<ShortVolume, 'readOnly' | 'nocopy' | 'propagation' | 'selinux' | 'unknownOptions'> {
  const words = text.split(',')
  const access = words.findLast(word => word === 'ro' || word === 'rw')
  const propagation = words.findLast(word => PROPAGATION.has(word))
  const selinux = words.findLast(word => word === 'z' || word === 'Z')
  return {
    readOnly: access === 'ro',
    nocopy: words.includes('nocopy'),
    ...(propagation && { propagation }),
    ...(selinux && { selinux }),
    unknownOptions: words.filter(word => word !== '' && !OPTION_WORDS.has(word)),
  }
}

const isLetter = (text: string): boolean => /^\p{L}$/u.test(text)
const isPath = (source: string): boolean => /^([./~]|\\\\|\p{L}:)/u.test(source)
const place = (part: Part): [number, number] => [part.start, part.start + part.text.length]

function clean(path: string): string {
  const normal = normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}
