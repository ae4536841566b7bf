import { readFile } from '../adapters/files/read-file.ts'
import { parseJson } from '../adapters/json/parse-json.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { FileContent } from '../compiler/host.ts'
import { isPinned, parseImageReference } from '../compiler/values/images/image-reference.ts'
import type { BuildMetadata, ImagesFile } from './images-file.schema.ts'
import { imagesFile } from './images-file.validators.ts'

const FORMS = 'write `{"SERVICE": "REFERENCE"}`, or name the file that `docker buildx bake --metadata-file` makes'

/**
 * Returns the images in a file that a build has written, by service. Accepts `{"web": "reference"}` and the output of
 * `docker buildx bake --metadata-file` (`{"web": {"image.name": "a:1,b:1", "containerimage.digest": "sha256:…"}}`, of
 * which the first name is used, with its digest). `shown` is the file name for errors.
 */
export function readImagesFile(path: string, shown: string): ReadonlyMap<string, string> {
  const images = new Map<string, string>()
  for (const [service, value] of Object.entries(parse(path, shown))) {
    const reference = typeof value === 'string' ? value : Array.isArray(value) ? undefined : fromMetadata(value)
    if (reference !== undefined) images.set(service, reference)
  }
  for (const [service, reference] of images) {
    const read = parseImageReference(reference)
    if (!read.ok) {
      const hint = read.hint === undefined ? {} : { hint: read.hint }
      throw new UserError(`\`${shown}\` gives \`${service}\` the image \`${reference}\`: ${read.reason}`, hint)
    }
  }
  if (images.size > 0) return images
  throw new UserError(`\`${shown}\` names no image`, { hint: FORMS })
}

function parse(path: string, shown: string): ImagesFile {
  const file = readFile(path)
  if (file.kind !== 'file') throw new UserError(`\`${shown}\` ${whyUnread(file)}`)
  const read = parseJson(new TextDecoder().decode(file.bytes), imagesFile)
  if (read.ok) return read.value
  throw new UserError(`\`${shown}\` cannot be read: ${read.problem}`, { hint: FORMS })
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

function fromMetadata(target: BuildMetadata): string | undefined {
  const { 'image.name': names, 'containerimage.digest': digest } = target
  const name = names?.split(',', 1).join().trim()
  return name && digest && !isPinned(name) ? `${name}@${digest}` : name
}
