/** Selection of the files to read, and of their parts. */
export interface LoadInput {
  /**
   * A manifest or Compose files, later ones merged over earlier ones; `-` is standard input.
   * Absent: they are looked for.
   */
  readonly file?: readonly string[] | undefined
  /** The folder that relative paths of the files are of. */
  readonly projectDirectory?: string | undefined
  /** Files to read instead of `.env`. */
  readonly envFile?: readonly string[] | undefined
  readonly profile?: readonly string[] | undefined
  /** True if the files may name files outside of the project, which are read. */
  readonly allowOutside?: boolean | undefined
  /** An environment of the manifest. */
  readonly environment?: string | undefined
}

/**
 * The options for deploying the files to a cluster. Absent ones come from the environment, the
 * manifest or the defaults.
 */
export interface PlanInput {
  /** The environment's name. */
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly domain?: string | undefined
  readonly routes?: 'ingress' | 'gateway' | undefined
  /** `NAMESPACE/NAME` of the Gateway that HTTPRoutes attach to. */
  readonly gateway?: string | undefined
  readonly ingressClass?: string | undefined
  readonly tlsSecret?: string | undefined
  /** The Pod Security level that every Pod is to meet. */
  readonly policy?: 'restricted' | undefined
  /** Images by service. */
  readonly image?: ReadonlyMap<string, string> | undefined
  /** The metadata that a build wrote (JSON), with images by service. */
  readonly imagesFile?: string | undefined
  readonly registry?: string | undefined
  readonly tag?: string | undefined
  readonly startOrder?: 'manifest' | 'client' | undefined
  /** True if Secrets are made with their values. */
  readonly includeSecrets?: boolean | undefined
  /** True if keys that are lost or approximated are errors. */
  readonly strict?: boolean | undefined
}
