/** The images that run in the cluster. */
export type PlatformImages = Readonly<Record<'platform' | 'runner' | 'registry' | 'buildkit', string>>

/** Returns the registry of the runner image, from a reference as `platformImages` returns it. */
export const registryOf = (runner: string): string | undefined => /^(.+)\/runner(?:[:@]|$)/.exec(runner)?.[1]

/** Returns the images of a platform, which are all built from this repository and pushed together. */
export const platformImages = (registry: string, version: string): PlatformImages => ({
  platform: `${registry}/platform:${version}`,
  runner: `${registry}/runner:${version}`,
  registry: `${registry}/registry:${version}`,
  buildkit: `${registry}/buildkit:${version}`,
})
