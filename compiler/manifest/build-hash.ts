import { resolve } from 'node:path/posix'
import { defaultDockerfile } from '../compose/build-files.ts'
import type { Pair } from '../compose/project.ts'
import type { BuildInput, CompilerHost } from '../host.ts'
import { HIDDEN, type SecretPlaces } from '../text/secret-places.ts'
import { shortHash } from '../values/dns-name.ts'
import { withoutLogin } from '../values/images/build-context.ts'
import { DEFAULT_PLATFORM } from '../values/images/platform.ts'
import { isVariableWithSecret } from '../values/secrets/secret-names.ts'
import { manifestContext } from './build-spec.ts'
import type { DevctlManifest, ImageBuild } from './manifest.ts'

export interface HashedManifest {
  readonly manifest: Pick<DevctlManifest, 'folder' | 'build'>
  readonly host: Pick<CompilerHost, 'hashBuild' | 'stat' | 'environment'>
  readonly secrets: SecretPlaces
}

/**
 * Returns hashes for the tags of a manifest's images, by image name. A hash covers everything that determines the
 * content of the image: the files of the context, the Dockerfile, target and arguments, the IDs of secrets, and the
 * hashes of the images that the image depends on. The arguments contain the variables of these images as references,
 * without their values. Caches and the values of secrets are not included, as in the hashes of the images of services.
 */
export function hashManifestBuilds(world: HashedManifest): ReadonlyMap<string, string> {
  const hashes = new Map<string, string>()
  const hashOf = (name: string): string => {
    const known = hashes.get(name)
    const build = world.manifest.build.get(name)
    if (known !== undefined || !build) return known ?? ''
    // The hash of an image in a cycle, which has already been reported, does not include the other images.
    hashes.set(name, '')
    const images = build.dependsOn.map(({ value }) => ['image', value, hashOf(value)])
    const hash = hashInput(inputOf(build, images, world), world)
    hashes.set(name, hash)
    return hash
  }
  for (const name of world.manifest.build.keys()) hashOf(name)
  return hashes
}

function inputOf(
  { context, dockerfile, target, args, secrets: used }: ImageBuild,
  images: readonly (readonly string[])[],
  { manifest, host, secrets }: HashedManifest,
): BuildInput {
  const source = manifestContext(context.value, manifest.folder)
  const beside = dockerfile && 'folder' in source && resolve(manifest.folder, dockerfile.value)
  const isBeside =
    beside && host.stat(beside)?.kind === 'file' && host.stat(resolve(source.folder, dockerfile.value))?.kind !== 'file'
  const platform = host.environment.get(DEFAULT_PLATFORM)
  const settings = [
    ...used.map(({ id }) => ['secret', id]),
    ...images,
    ...(platform ? [['platform', platform]] : []),
  ].sort()
  return {
    context: 'folder' in source ? source.folder : source.remote,
    dockerfile: isBeside
      ? beside
      : (dockerfile?.value ?? ('folder' in source ? defaultDockerfile(source.folder, host) : undefined)),
    target: target && secrets.without(target.value, target.span),
    args: args.map(argument => [argument.name, withoutSecret(argument, secrets)]),
    ...(settings.length > 0 && { settings }),
  }
}

/** Returns the value of an argument without secrets. A value from a name without a value has no secret position. */
function withoutSecret({ name, value, span, isSecret }: Pair, secrets: SecretPlaces): string {
  const open = secrets.without(value, span)
  return isVariableWithSecret(name, value) || (isSecret && open === value) ? HIDDEN : open
}

function hashInput(input: BuildInput, { host }: HashedManifest): string {
  return host.hashBuild(input) ?? shortHash(JSON.stringify({ ...input, context: withoutLogin(input.context) }), 64)
}
