import { failed, type Parsed, parsed } from '../parsed.ts'

export interface ImageReference {
  /** Name, including the registry if there is one. */
  readonly name: string
  readonly tag?: string
  readonly digest?: string
}

/** A component of a path: lower-case letters and digits, separated by one `.`, one or two `_`, or any number of `-`. */
const PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const HOST_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const HOST = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const NAME = new RegExp(`^(?:${HOST}/)?${PART}(?:/${PART})*$`)
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/
const LONGEST_NAME = 255

/**
 * Parses an image reference, `[REGISTRY/]NAME[:TAG][@DIGEST]`. Adds no defaults: `nginx` has no registry and no tag.
 * (https://pkg.go.dev/github.com/distribution/reference has the grammar)
 */
export function parseImageReference(text: string): Parsed<ImageReference> {
  if (text === '') return failed('it is empty', 'write the name of an image, such as `nginx:1.29`')
  const at = text.indexOf('@')
  const digest = at < 0 ? undefined : text.slice(at + 1)
  const tagged = at < 0 ? text : text.slice(0, at)
  // A colon before the last slash belongs to the registry's port.
  const colon = tagged.lastIndexOf(':')
  const hasTag = colon > tagged.lastIndexOf('/')
  const name = hasTag ? tagged.slice(0, colon) : tagged
  const tag = hasTag ? tagged.slice(colon + 1) : undefined

  if (digest !== undefined && !DIGEST.test(digest)) {
    return failed(`\`${digest}\` is not a valid digest`, 'a digest is `sha256:` and 64 hexadecimal digits', [
      at + 1,
      text.length,
    ])
  }
  if (digest?.startsWith('sha256:') && !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    return failed(`\`${digest}\` is not a valid SHA-256 digest`, 'a digest is `sha256:` and 64 hexadecimal digits', [
      at + 1,
      text.length,
    ])
  }
  if (tag !== undefined && !TAG.test(tag)) {
    return failed(`\`${tag}\` is not a valid tag`, 'a tag is at most 128 letters, digits, `_`, `.` and `-`', [
      colon + 1,
      tagged.length,
    ])
  }
  if (name.length > LONGEST_NAME)
    return failed(`the name is longer than ${LONGEST_NAME} characters`, undefined, [0, name.length])
  if (!NAME.test(name)) return failed(`\`${name}\` is not a valid image name`, nameHint(name), [0, name.length])
  return parsed({ name, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) })
}

/**
 * Returns a name for the image with the content hash `hash`: `REPOSITORY:devctl-HASH`, in the repository of `image`, a
 * name that the user has set. The tag does not collide with the user's own tags. Returns undefined if `image` has a
 * digest or is invalid.
 */
export function nameOfContent(image: string, hash: string): string | undefined {
  const read = parseImageReference(image)
  return read.ok && read.value.digest === undefined ? `${read.value.name}:devctl-${hash}` : undefined
}

/** Returns true if a reference has a digest. No image can be pushed to such a reference. */
export const isPinned = (reference: string): boolean => reference.includes('@')

/** Adds the tag `latest` to an image name without a tag; returns a name with a digest unchanged. */
export function withDefaultTag(image: string): string {
  const read = parseImageReference(image)
  return read.ok && read.value.tag === undefined && read.value.digest === undefined ? `${image}:latest` : image
}

/**
 * Returns the shortest name of an image, under which BuildKit looks it up: without `docker.io/library/` and `:latest`.
 * Returns undefined for a name with a digest and for an invalid name.
 */
export function familiarName(image: string): string | undefined {
  const read = parseImageReference(image)
  if (!read.ok || read.value.digest !== undefined) return undefined
  const { name, tag = 'latest' } = read.value
  const short = name
    .replace(/^(?:index\.)?docker\.io\/(?:library\/(?=[^/]+$))?/, '')
    .replace(/^library\/(?=[^/]+$)/, '')
  return tag === 'latest' ? short : `${short}:${tag}`
}

/** Returns a form of a reference that is equal for references to the same image, such as `web` and `web:latest`. */
export const comparableName = (reference: string): string => familiarName(reference) ?? reference

/**
 * Returns the registry at the start of an image name, if there is one. As in Docker, the first component counts as a
 * registry if it looks like one.
 */
export function registryIn(image: string): string | undefined {
  const slash = image.indexOf('/')
  const first = image.slice(0, Math.max(0, slash))
  return /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase() ? first : undefined
}

/** True for the name of an official Docker Hub image, such as `nginx:1.29`, without a digest. */
export function isOfficialImage(reference: string): boolean {
  const read = parseImageReference(reference)
  if (!read.ok || read.value.digest !== undefined) return false
  const { name } = read.value
  const registry = registryIn(name)
  if (registry === undefined) return !name.includes('/') || name.startsWith('library/')
  return /^(?:index\.)?docker\.io$/i.test(registry) && /^[^/]*\/(?:library\/|[^/]*$)/.test(name)
}

function nameHint(name: string): string {
  if (/^[a-z]+:\/\//.test(name)) return 'leave the scheme out: `REGISTRY/NAME:TAG`'
  const slash = name.indexOf('/')
  const path = /^[^/]*[.:]|^localhost\//.test(name) && slash > 0 ? name.slice(slash + 1) : name
  if (/[A-Z]/.test(path))
    return `names are in lower case: \`${name.slice(0, name.length - path.length)}${path.toLowerCase()}\``
  return 'a name is lower-case letters and digits, with `.`, `_`, `-` and `/` between them'
}
