import { type FetchedConfig, fetchImageConfigs } from '../adapters/registry/image-configs.ts'
import { registryOf } from '../adapters/registry/registry.ts'
import { describeProblem } from '../adapters/registry/registry-problem.ts'
import type { RegistrySessionOptions } from '../adapters/registry/registry-session.ts'
import type { Project } from '../compiler/compose/project.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import type { ImageConfig, ImageProgram } from '../compiler/values/images/image-config.ts'

/** Configurations and programs of images, as far as they could be found out, by service. */
export interface KnownImages {
  readonly configs: ReadonlyMap<string, ImageConfig>
  readonly programs: ReadonlyMap<string, ImageProgram>
  /**
   * Sentences about missing facts, by service: for each built image whose configuration is unknown, and for each image
   * whose program is unknown.
   */
  readonly notes: ReadonlyMap<string, string>
}

/** Images whose configurations or programs are requested, by service. */
export interface WantedImages {
  /** Built or existing images, with their digests. */
  readonly built: ReadonlyMap<string, string>
  /** Images outside `built` in the registries of the images of services with `build`; see `plainImages`. */
  readonly plain: ReadonlyMap<string, string>
  /** Images, in any registry, whose programs are needed; see `Plan.unknownPrograms`. */
  readonly programs: ReadonlyMap<string, string>
}

interface KnownOptions extends RegistrySessionOptions {
  /** Timeout for the configurations of plain images and for each program, in milliseconds. */
  readonly limit?: number
}

const LIMIT = 5000

/**
 * Fetches the configurations of images. Waits only briefly for plain images and programs, and does not report plain
 * images whose configurations stay unknown. Throws the signal's abort reason. Throws a UserError for a Docker
 * configuration that cannot be read, unless only programs need it.
 */
export async function knownImages(
  { built, plain, programs: wanted }: WantedImages,
  { limit = LIMIT, ...options }: KnownOptions,
): Promise<KnownImages> {
  const [ofBuilt, ofPlain, ofPrograms] = await Promise.all([
    fetchImageConfigs([...built.values()], options),
    plain.size > 0 ? fetchQuickly([...plain.values()], limit, options) : new Map<string, FetchedConfig>(),
    fetchPrograms(wanted, limit, options),
  ])
  const configs = new Map<string, ImageConfig>()
  const notes = new Map<string, string>()
  for (const [service, reference] of [...plain, ...built]) {
    const found = ofBuilt.get(reference) ?? ofPlain.get(reference)
    if (found && 'config' in found) configs.set(service, found.config)
    else if (found && built.has(service))
      notes.set(
        service,
        `the ports, user and healthcheck of the image of \`${service}\` are not known: ${describeProblem(reference, found.problem).message}`,
      )
  }
  const programs = new Map<string, ImageProgram>()
  for (const [service, found] of ofPrograms)
    if (typeof found === 'string')
      notes.set(
        service,
        `the program of the image of \`${service}\` is not known, so its container is restarted when it ends: ${found}; to run it once, set \`entrypoint\` to the program that its image starts`,
      )
    else programs.set(service, found)
  return { configs, programs, notes }
}

/**
 * Fetches the programs of images. Returns for each service the program, or a clause with the reason why the program is
 * unknown. Each image has a separate timeout, so that a registry that does not respond takes no time from the others.
 */
async function fetchPrograms(
  images: ReadonlyMap<string, string>,
  limit: number,
  options: RegistrySessionOptions,
): Promise<readonly (readonly [service: string, ImageProgram | string])[]> {
  const distinct = [...new Set(images.values())]
  const found = new Map(
    await Promise.all(distinct.map(async one => [one, await fetchProgram(one, limit, options)] as const)),
  )
  return [...images].map(([service, reference]) => [service, found.get(reference)!] as const)
}

async function fetchProgram(
  reference: string,
  limit: number,
  options: RegistrySessionOptions,
): Promise<ImageProgram | string> {
  try {
    const found = (await fetchQuickly([reference], limit, options)).get(reference)
    if (found && 'config' in found) {
      const { Entrypoint, Cmd } = found.config
      return { ...(Entrypoint && { Entrypoint }), ...(Cmd && { Cmd }) }
    }
    const silence = { kind: 'unreachable', reason: `it has not answered within ${limit / 1000} s` } as const
    return describeProblem(reference, found?.problem ?? silence).message
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
}

async function fetchQuickly(
  references: readonly string[],
  milliseconds: number,
  options: RegistrySessionOptions,
): Promise<ReadonlyMap<string, FetchedConfig>> {
  const limit = AbortSignal.timeout(milliseconds)
  const signal = AbortSignal.any([options.signal, limit])
  try {
    return await fetchImageConfigs(references, { ...options, signal })
  } catch (error) {
    options.signal.throwIfAborted()
    if (!limit.aborted) throw error
    return new Map()
  }
}

/**
 * Returns the images outside `built` that are in the same registries as images of services with `build`. Those
 * registries receive requests anyway. Other registries are asked only for programs, because they may be unreachable
 * from this machine, and the manifests would then depend on the machine. Docker Hub is not asked either, because it
 * counts such requests as pulls. The selected registries stay the same if only a part of the project is deployed.
 */
export function plainImages(
  { services }: Project,
  images: ReadonlyMap<string, string>,
  built: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const registries = new Set(
    [...images].flatMap(([service, image]) => (services.get(service)?.build ? [registryOf(image)] : [])),
  )
  registries.delete('docker.io')
  return new Map([...images].filter(([service, image]) => !built.has(service) && registries.has(registryOf(image))))
}
