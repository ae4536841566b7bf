/** Options that select the files to read, and the environment of the manifest. */
export interface LoadInput {
  /**
   * Path of a manifest, or paths of Compose files, later ones merged over earlier ones; `-` is standard input. If
   * absent, devctl searches for them.
   */
  readonly file?: readonly string[] | undefined
  /** Folder against which relative paths in the files are resolved. */
  readonly projectDirectory?: string | undefined
  /** Files to read instead of `.env`. */
  readonly envFile?: readonly string[] | undefined
  readonly profile?: readonly string[] | undefined
  /** True if the files may read files outside the project. */
  readonly allowOutside?: boolean | undefined
  /** Name of an environment of the manifest. */
  readonly environment?: string | undefined
}

/**
 * Options for deploying the files to a cluster. Absent options come from the environment, the manifest or the defaults.
 */
export interface PlanInput {
  /** Name of the environment. */
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly domain?: string | undefined
  readonly routes?: 'ingress' | 'gateway' | undefined
  /** `NAMESPACE/NAME` of the Gateway that HTTPRoutes attach to. */
  readonly gateway?: string | undefined
  readonly ingressClass?: string | undefined
  readonly tlsSecret?: string | undefined
  /** Pod Security level that every Pod must meet. */
  readonly policy?: 'restricted' | undefined
  /** Images by service. */
  readonly image?: ReadonlyMap<string, string> | undefined
  /** Path of the metadata file (JSON) that a build wrote, with images by service. */
  readonly imagesFile?: string | undefined
  readonly registry?: string | undefined
  readonly tag?: string | undefined
  readonly startOrder?: 'manifest' | 'client' | undefined
  /** True if Secrets are rendered with their values. */
  readonly includeSecrets?: boolean | undefined
  /** True to report Compose keys that are lost or only approximated as errors. */
  readonly strict?: boolean | undefined
}
