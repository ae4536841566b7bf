/** The images that run in the cluster. */
export type PlatformImages = Readonly<Record<'platform' | 'runner' | 'registry' | 'buildkit', string>>

/** The registry of the image for runs, as `platformImages` names it. */
export const registryOf = (runner: string): string | undefined => /^(.+)\/runner(?:[:@]|$)/.exec(runner)?.[1]

/** The images of a platform, which are all built from this repository and pushed together. */
export const platformImages = (registry: string, version: string): PlatformImages => ({
  platform: `${registry}/platform:${version}`,
  runner: `${registry}/runner:${version}`,
  registry: `${registry}/registry:${version}`,
  buildkit: `${registry}/buildkit:${version}`,
})
