import { readFile } from '../../adapters/files/read-file.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { FileContent } from '../../compiler/host.ts'
import { parseImageReference } from '../../compiler/values/image-reference.ts'

/**
 * The images that a build wrote down, by service. Takes `{"web": "reference"}` and what `docker buildx bake --metadata-file` writes
 * (`{"web": {"image.name": "a:1,b:1", "containerimage.digest": "sha256:…"}}`, whose first name is taken, with its digest). `shown` names the file in errors.
 */
export function readImagesFile(path: string, shown: string): ReadonlyMap<string, string> {
  const content = parse(path, shown)
  const images = new Map<string, string>()
  for (const [service, value] of Object.entries(content)) {
    if (typeof value === 'string') images.set(service, value)
    else if (isRecord(value)) {
      const reference = fromMetadata(value)
      if (reference) images.set(service, reference)
    }
  }
  for (const [service, reference] of images) {
    const read = parseImageReference(reference)
    if (!read.ok) {
      const hint = read.hint === undefined ? {} : { hint: read.hint }
      throw new UserError(`\`${shown}\` gives \`${service}\` the image \`${reference}\`: ${read.reason}`, hint)
    }
  }
  if (images.size > 0) return images
  throw new UserError(`\`${shown}\` names no image`, {
    hint: 'write `{"SERVICE": "REFERENCE"}`, or the file that `docker buildx bake --metadata-file` makes',
  })
}

function parse(path: string, shown: string): Readonly<Record<string, unknown>> {
  const file = readFile(path)
  if (file.kind !== 'file') throw new UserError(`\`${shown}\` ${whyUnread(file)}`)
  let content: unknown
  try {
    content = JSON.parse(new TextDecoder().decode(file.bytes))
  } catch (cause) {
    throw new UserError(`\`${shown}\` cannot be read: it is no JSON`, { cause })
  }
  if (isRecord(content)) return content
  throw new UserError(`\`${shown}\` holds no JSON object`)
}

function whyUnread(file: Exclude<FileContent, { kind: 'file' }>): string {
  switch (file.kind) {
    case 'missing':
      return 'does not exist'
    case 'folder':
      return 'is a folder'
    case 'unreadable':
      return `cannot be read: ${file.reason}`
  }
}

function fromMetadata(target: Readonly<Record<string, unknown>>): string | undefined {
  const names = target['image.name']
  if (typeof names !== 'string') return undefined
  const name = names.split(',')[0]!.trim()
  const digest = target['containerimage.digest']
  return typeof digest === 'string' && !name.includes('@') ? `${name}@${digest}` : name
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
