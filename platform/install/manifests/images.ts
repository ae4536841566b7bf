/** Names of the images that a platform runs. */
export const PLATFORM_IMAGES = ['platform', 'runner', 'registry', 'buildkit'] as const

export type PlatformImageName = (typeof PLATFORM_IMAGES)[number]

/** References of the images that run in the cluster. */
export type PlatformImages = Readonly<Record<PlatformImageName, string>>

/** Returns the registry of the runner image, from a reference as `platformImages` returns it. */
export const registryOf = (runner: string): string | undefined => /^(.+)\/runner(?:[:@]|$)/.exec(runner)?.[1]

/** Returns the images of a platform, which are all built from the devctl package and pushed together. */
export const platformImages = (registry: string, version: string): PlatformImages => ({
  platform: `${registry}/platform:${version}`,
  runner: `${registry}/runner:${version}`,
  registry: `${registry}/registry:${version}`,
  buildkit: `${registry}/buildkit:${version}`,
})
