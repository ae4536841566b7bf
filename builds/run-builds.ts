import type { BuildCall, Builder, ImageInput } from '../adapters/buildkit/builder.ts'
import { BuilderError, BuildFailure } from '../adapters/buildkit/failure.ts'
import type { ChangeFinder } from '../adapters/buildkit/files/changed.ts'
import type { Login } from '../adapters/buildkit/session/session.ts'
import { backOff } from '../adapters/http/back-off.ts'
import { Slots } from '../adapters/http/slots.ts'
import type { BuildEvent } from './events.ts'
import type { PlannedBuild } from './plan/planned-build.ts'
import { withDigest } from './plan/with-digest.ts'

/** Result of a build: the digest of its image, or the reason why no image exists. */
export type BuildEnd =
  | { readonly kind: 'built'; readonly digest: string | undefined }
  | { readonly kind: 'failed'; readonly error: unknown }
  /** The build was skipped because it needs the image of `needs`, which was not built. */
  | { readonly kind: 'skipped'; readonly needs: string }

export interface BuildRunContext {
  readonly builder: Builder
  readonly signal: AbortSignal
  readonly credentials: (host: string) => Promise<Login | undefined>
  /**
   * Returns a function that reports whether a file in `folder` has changed since the content tags were computed;
   * undefined if no content tag was computed from the folder.
   */
  readonly changesIn?: (folder: string) => ChangeFinder | undefined
  /** Called with the content of a secret before the builder gets it. */
  readonly onSecret?: (content: Uint8Array) => void
  readonly on: (event: BuildEvent) => void
  /** Returns the current time in milliseconds, for the times in events. */
  readonly now: () => number
  /** Waits the given number of milliseconds; rejects with the signal's abort reason. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>
}

/** Maximum number of concurrent builds. A builder has its own limit for steps. */
const AT_ONCE = 8
/** Maximum number of attempts at a build that fails because of the builder, the connection or a registry. */
const ATTEMPTS = 3
/** Pause before the second attempt, and maximum pause before any attempt, in milliseconds. */
const PAUSE = [1000, 10_000] as const

/**
 * Runs builds concurrently, each after the builds that it needs (`dependsOn`). A failure skips the builds that need the
 * image; the others continue. `inputOf` receives the images that exist, by service: the images in `known`, and the
 * images built so far, with their digests. The result contains every service. Rejects with the abort reason of the
 * signal.
 */
export async function runBuilds(
  builds: readonly PlannedBuild[],
  inputOf: (build: PlannedBuild, images: ReadonlyMap<string, string>) => ImageInput,
  known: ReadonlyMap<string, string>,
  world: BuildRunContext,
): Promise<ReadonlyMap<string, BuildEnd>> {
  const slots = new Slots(AT_ONCE)
  const images = new Map(known)
  const ends = new Map<string, Promise<BuildEnd>>()
  const planned = new Map(builds.map(build => [build.service, build]))
  // The compiler rejects dependency cycles.
  const endOf = (build: PlannedBuild): Promise<BuildEnd> => {
    const known = ends.get(build.service)
    if (known) return known
    const end = run(build)
    ends.set(build.service, end)
    return end
  }
  const run = async (build: PlannedBuild): Promise<BuildEnd> => {
    const needed = build.dependsOn.flatMap(service => planned.get(service) ?? [])
    const before = await Promise.all(needed.map(async one => [one.service, await endOf(one)] as const))
    const missing = before.find(([, { kind }]) => kind !== 'built')
    if (missing) {
      world.on({ type: 'build-ended', name: build.service, outcome: 'skipped', seconds: 0 })
      return { kind: 'skipped', needs: missing[0] }
    }
    const end = await slots.run(world.signal, () => buildOne(build, () => inputOf(build, images), world))
    if (end.kind === 'built') images.set(build.service, withDigest(build.reference, end.digest))
    return end
  }
  const all = builds.map(async build => [build.service, await endOf(build)] as const)
  // Aborted builds clean up, which may take different times.
  await Promise.allSettled(all)
  return new Map(await Promise.all(all))
}

/**
 * True for a temporary error; another attempt may succeed. For example, a step fails temporarily if the registry of a
 * base image is busy.
 */
const mayPass = (error: unknown): error is BuilderError | BuildFailure =>
  (error instanceof BuilderError || error instanceof BuildFailure) && error.isTransient

async function buildOne(
  { service, reference, contentReference }: PlannedBuild,
  input: () => ImageInput,
  { builder, signal, credentials, changesIn, onSecret, on, now, pause }: BuildRunContext,
): Promise<BuildEnd> {
  const began = now()
  const seconds = () => (now() - began) / 1000
  on({ type: 'build-begun', name: service, reference })
  const onStatus: BuildCall['onStatus'] = status => on({ type: 'build-status', name: service, status })
  // Only a content tag identifies what was built.
  const guard = contentReference !== undefined && changesIn && { changesIn }
  const call = { name: service, signal, credentials, onStatus, ...(onSecret && { onSecret }), ...guard }
  // Reported immediately, because the display ends before the builder has answered.
  const cancel = () => on({ type: 'build-ended', name: service, outcome: 'cancelled', seconds: seconds() })
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return await attempts()
  } finally {
    signal.removeEventListener('abort', cancel)
  }

  async function attempts(): Promise<BuildEnd> {
    for (let attempt = 1; ; attempt++) {
      try {
        if (attempt > 1) await builder.back(signal)
        const { digest } = await builder.build(input(), call)
        on({ type: 'build-ended', name: service, outcome: 'built', ...(digest && { digest }), seconds: seconds() })
        return { kind: 'built', digest }
      } catch (error) {
        signal.throwIfAborted()
        if (!mayPass(error) || attempt === ATTEMPTS) {
          on({ type: 'build-ended', name: service, outcome: 'failed', seconds: seconds() })
          return { kind: 'failed', error }
        }
        on({ type: 'build-retry', name: service, reason: error.message, attempt: attempt + 1, of: ATTEMPTS })
        await pause(backOff(attempt, ...PAUSE), signal)
      }
    }
  }
}
