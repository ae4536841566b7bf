import type { Pair } from './compose/project.ts'
import type { At, Span } from './text/source.ts'
import type { Entry } from './text/tree.ts'
import type { BuildOverrides } from './values/dockerfile/dockerfile-images.ts'
import type { ImageConfig, ImageProgram } from './values/images/image-config.ts'

/** The secret settings of an environment in a manifest (`environments.NAME.secrets`). */
export interface SecretRules {
  /**
   * The origin of the Secrets: `reference` (the user creates them), External Secrets, Sealed Secrets, or a controller
   * that decrypts files encrypted with SOPS.
   */
  readonly backend: 'reference' | 'external' | 'sealed' | 'sops'
  /** The SecretStore of the backend `external`. A valid manifest always names it. */
  readonly store?: At<string>
  readonly storeKind: 'SecretStore' | 'ClusterSecretStore'
  /** The certificate file of the backend `sealed`, relative to the manifest. */
  readonly certificate?: At<string>
  /** The age recipients of the backend `sops`. If empty, the recipients in the repository's `.sops.yaml` are used. */
  readonly age: readonly At<string>[]
  /**
   * Sources of secret values, by the path of the value: `services.db.environment.POSTGRES_PASSWORD`, `secrets.token`.
   */
  readonly values: ReadonlyMap<string, SecretSource>
  /** Paths of values that look like secrets but are not. */
  readonly public: readonly At<string>[]
}

/** The Secret and key that a value comes from. */
export interface SecretSource {
  readonly secret: At<string>
  readonly key: At<string>
  /** The key in the store of the backend `external`. If absent, the name of the Secret is used. */
  readonly remote?: At<string>
  readonly property?: At<string>
  /** Position, in the manifest, of the key that is the path of the value. */
  readonly span: Span
}

/** The files to load, and options for loading them. All paths are absolute. */
export interface LoadOptions {
  /** The current folder. The search for files starts here, and diagnostics show paths relative to it. */
  readonly workingDirectory: string
  /** The files of `-f`, in order; `-` is standard input. If empty, COMPOSE_FILE or a search determines the files. */
  readonly files?: readonly string[]
  /** The content of standard input, for `-f -`. */
  readonly stdin?: Uint8Array
  readonly projectDirectory?: string
  readonly envFiles?: readonly string[]
  /** The profiles of `--profile`. If absent, COMPOSE_PROFILES decides. */
  readonly profiles?: readonly string[]
  /** Compose's project name. The environment's name is in `PlanOptions`. */
  readonly projectName?: string
  /** The services to load, together with their dependencies. If absent, all services. */
  readonly services?: readonly string[]
  /** Services whose profiles are activated. Unlike `services`, the list does not exclude other services. */
  readonly activeServices?: readonly string[]
  readonly strict?: boolean
  /** Rules that take values from Secrets. Variables in these values need not be set. */
  readonly secretRules?: SecretRules
  /**
   * Assumes values for variables that are not set but required by an expression (`${NAME:?}`) and, with `all`, for
   * variables that contain the content of a config or secret. Set by callers that do not need the values; the result
   * must not be written anywhere.
   */
  readonly assumesRequired?: 'expressions' | 'all'
  /** Build settings from the command line. They can change which images a Dockerfile uses. */
  readonly buildOverrides?: BuildOverrides
  readonly manifest?: ManifestInputs
  /** Set to `loaded` to stop after loading and report only the errors found so far (`devctl config`). */
  readonly until?: 'loaded'
}

/** The settings of a manifest and its environment that concern the Compose files. All paths are absolute. */
export interface ManifestInputs {
  /**
   * Files to merge over the Compose files. If the Compose files were found by search, these files replace their
   * `.override` file.
   */
  readonly files?: readonly string[]
  /** The only folder to search for Compose files if no option or variable names a file. */
  readonly searchIn?: string
  /** Variables whose precedence is below the shell and above `.env`. */
  readonly variables?: readonly Pair[]
  /** Endpoints that replace the `endpoints` of the files, with a warning if the files have any. */
  readonly endpoints?: Entry
  /** Positions in the manifest at which Compose files (by absolute path) and services are named. */
  readonly places?: { readonly files: ReadonlyMap<string, Span>; readonly services: ReadonlyMap<string, Span> }
}

/** The settings of the environment to plan for. */
export interface PlanOptions {
  /**
   * The environment's name, before it is converted to a DNS label. If absent, the `name` in the files is used or,
   * without one, `fallbackName`.
   */
  readonly name?: string
  /** The environment's name if neither an option nor a file sets it: the name of the repository or folder. */
  readonly fallbackName?: string
  readonly namespace?: string
  readonly domain?: string
  readonly routes?: 'ingress' | 'gateway'
  /** The Gateway of the routes, `NAMESPACE/NAME`. */
  readonly gateway?: string
  readonly ingressClass?: string
  readonly tlsSecret?: string
  /** The cert-manager issuer for the hosts of all Ingresses. */
  readonly tlsIssuer?: { readonly kind: 'Issuer' | 'ClusterIssuer'; readonly name: string }
  /** Annotations of all routes. Annotations of a service or endpoint take precedence. */
  readonly routeAnnotations?: readonly Pair[]
  readonly policy?: 'restricted'
  /** Images of services from `--image service=reference`. */
  readonly images?: ReadonlyMap<string, string>
  /**
   * Positions in the manifest that set images of services, by service. Errors about unknown services refer to these
   * positions.
   */
  readonly imagePlaces?: ReadonlyMap<string, Span>
  /**
   * The available image configurations, by service. The plan derives ports, healthchecks, users and warnings from them.
   */
  readonly imageConfigs?: ReadonlyMap<string, ImageConfig>
  /**
   * Programs of images, by service. Set, even if empty, after registries were asked for the programs; see
   * `Plan.unknownPrograms`. Other facts from the registries are not used, because the manifests would then depend on
   * which registries answer.
   */
  readonly imagePrograms?: ReadonlyMap<string, ImageProgram>
  readonly registry?: string
  readonly tag?: string
  readonly startOrder?: 'manifest' | 'client'
  readonly includeSecrets?: boolean
  readonly secretRules?: SecretRules
  /**
   * True if values that are secret because of their origin have to be put into Secrets. Other objects are visible to
   * users who must not read secrets, such as the viewers of a platform namespace. A secret value in a position where a
   * Secret cannot be used is then an error.
   */
  readonly valuesApart?: boolean
  /** The key, in the manifest, of the environment that `secretRules` belong to. Used in hints. */
  readonly manifestEnvironment?: string
  /** Set by `publish`. A value that is or looks secret is then an error, because it would be committed. */
  readonly forRepository?: boolean
  /**
   * Set by commands that build images. The plan then includes the input of the builds (`Plan.builds`). With `deploy`,
   * images that the user names with `--tag`, or with `image` and a `pull_policy` that pulls, are used without reading
   * their build input.
   */
  readonly forBuild?: 'build' | 'deploy'
  /**
   * Set by commands that work on a cluster. Folders that are too large to be copied are then left out of the manifests,
   * because `up` synchronizes them.
   */
  readonly leavesFoldersToUp?: boolean
  /** True to return a plan even if there are errors. The plan lacks the parts in error. */
  readonly plansErrors?: boolean
  /** The value of DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED: `true` (default) or `false`. */
  readonly volumeAffinity?: string
  /** The image of containers that wait or copy files into volumes. Default: `busybox:1.37`. */
  readonly shellImage?: string
  /** The image of containers that wait for Jobs. Default: `registry.k8s.io/kubectl:v1.34.2`. */
  readonly kubectlImage?: string
}
