import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildOutput, ImageLayout } from '../adapters/buildkit/builder.ts'
import { makeTemporaryFolder } from '../adapters/files/temporary-folder.ts'
import { namesOf, type PlannedBuild } from './plan/planned-build.ts'

/**
 * Places to which the builds of a command write their images: a registry, a layout in a temporary folder, or nowhere.
 */
export interface ImagePlaces {
  readonly builds: readonly PlannedBuild[]
  readonly outputOf: (build: PlannedBuild) => BuildOutput
  /** Returns the layouts of images that are not in a registry, by service, given the references of the built images. */
  readonly layoutsOf: (images: ReadonlyMap<string, string>) => ReadonlyMap<string, ImageLayout>
}

const PUSHED: Omit<ImagePlaces, 'builds'> = {
  outputOf: build => {
    const names = namesOf(build)
    return names.length > 0 ? { kind: 'registry', names } : { kind: 'discard' }
  },
  layoutsOf: () => new Map(),
}

/**
 * Calls `use` with the places to which the builds write their images. Images that are not pushed and that other builds
 * need are written to a temporary folder, which is deleted at the end.
 */
export async function withImagePlaces<T>(
  builds: readonly PlannedBuild[],
  isPushed: boolean,
  use: (places: ImagePlaces) => Promise<T>,
): Promise<T> {
  if (isPushed) return use({ builds, ...PUSHED })
  const needed = new Set(builds.flatMap(({ dependsOn }) => dependsOn))
  const bases = builds.map(({ service }) => service).filter(service => needed.has(service))
  if (bases.length === 0) return use({ builds, ...PUSHED, outputOf: () => ({ kind: 'discard' }) })
  const folder = makeTemporaryFolder('devctl-images-')
  const places = new Map(bases.map((service, index) => [service, join(folder, String(index))]))
  try {
    return await use({
      builds: builds.map(build => (build.reference === '' ? { ...build, reference: localName(build) } : build)),
      outputOf: ({ service }) => {
        const place = places.get(service)
        return place === undefined ? { kind: 'discard' } : { kind: 'layout', folder: place }
      },
      layoutsOf: images => layoutsIn(places, images),
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the name that variables contain for an image without a registry. Nothing else uses this name. */
const localName = ({ service }: PlannedBuild): string => `localhost/${service.toLowerCase()}:unpushed`

function layoutsIn(
  places: ReadonlyMap<string, string>,
  images: ReadonlyMap<string, string>,
): ReadonlyMap<string, ImageLayout> {
  const found = [...places].flatMap(([service, layout]) => {
    const digest = images.get(service)?.split('@')[1]
    return digest === undefined ? [] : [[service, { layout, digest }] as const]
  })
  return new Map(found)
}
