import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { parseJson } from '../../json/parse-json.ts'
import { writeWhole } from '../session/upload.ts'
import type { LayoutIndex, LayoutManifest } from './layout-index.schema.ts'
import { layoutIndex } from './layout-index.validators.ts'

/** Key of the annotation that contains the tag of a manifest in an index. */
const NAME = 'org.opencontainers.image.ref.name'

/** Returns the digest of the manifest with this tag; undefined if the folder has no such manifest. */
export async function taggedDigest(folder: string, tag: string): Promise<string | undefined> {
  const { manifests } = await readIndex(folder)
  return manifests?.find(({ annotations }) => annotations?.[NAME] === tag)?.digest
}

/** Adds a manifest with a tag to the index of the folder, replacing the manifest that had this tag. */
export async function putManifest(folder: string, manifest: LayoutManifest, tag: string): Promise<void> {
  const putting = (puttings.get(folder) ?? Promise.resolve()).catch(() => {}).then(() => put(folder, manifest, tag))
  puttings.set(folder, putting)
  return putting
}

/** Pending writes by folder: concurrent builds write the index of a folder one after the other. */
const puttings = new Map<string, Promise<void>>()

async function put(folder: string, manifest: LayoutManifest, tag: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const { manifests, ...index } = await readIndex(folder)
  const others = (manifests ?? []).filter(({ annotations }) => annotations?.[NAME] !== tag)
  const named = { ...manifest, annotations: { ...manifest.annotations, [NAME]: tag } }
  const written = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    ...index,
    manifests: [...others, named],
  }
  await writeFile(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  await writeWhole(join(folder, 'index.json'), [Buffer.from(JSON.stringify(written))])
}

/** Reads `index.json`; a missing file is an empty index. Throws a UserError if the file is not an index. */
async function readIndex(folder: string): Promise<LayoutIndex> {
  const path = join(folder, 'index.json')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return ''
    throw new UserError(`cannot read the cache \`${path}\`: ${error.code}`)
  })
  if (text === '') return {}
  const index = parseJson(text, layoutIndex)
  if (index.ok) return index.value
  throw new UserError(`\`${path}\` is not the index of a cache: ${index.problem}`, {
    hint: 'name another folder, or remove this one',
  })
}
