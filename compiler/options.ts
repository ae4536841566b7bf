import type { Pair } from './compose/project.ts'
import type { At, Span } from './text/source.ts'
import type { Entry } from './text/tree.ts'
import type { BuildOverrides } from './values/dockerfile/dockerfile-images.ts'
import type { ImageConfig } from './values/images/image-config.ts'

/** The secret settings of an environment in a manifest (`environments.NAME.secrets`). */
export interface SecretRules {
  /**
   * The backend that creates the Secrets: the user (`reference`), External Secrets, Sealed Secrets,
   * or a controller that decrypts files encrypted with SOPS.
   */
  readonly backend: 'reference' | 'external' | 'sealed' | 'sops'
  /** The SecretStore of `external`, which a valid manifest always names. */
  readonly store?: At<string>
  readonly storeKind: 'SecretStore' | 'ClusterSecretStore'
  /** The certificate file of `sealed`, relative to the manifest. */
  readonly certificate?: At<string>
  /** The age recipients of `sops`; empty: those of the repository's `.sops.yaml`. */
  readonly age: readonly At<string>[]
  /** Secret sources by path of the value: `services.db.environment.POSTGRES_PASSWORD`, `secrets.token`. */
  readonly values: ReadonlyMap<string, SecretSource>
  /** Paths of values that look secret but are not. */
  readonly public: readonly At<string>[]
}

/** The Secret and key that a value comes from. */
export interface SecretSource {
  readonly secret: At<string>
  readonly key: At<string>
  /** The key of `external` in the store; absent: the name of the Secret. */
  readonly remote?: At<string>
  readonly property?: At<string>
  /** The position of the path in the manifest. */
  readonly span: Span
}

/** The files to load, and options for loading them. Paths are absolute. */
export interface LoadOptions {
  /** The current folder: discovery starts here, and diagnostics show paths relative to it. */
  readonly workingDirectory: string
  /** `-f`, in order, as given; `-` is standard input. Empty: COMPOSE_FILE, then discovery. */
  readonly files?: readonly string[]
  /** The content of standard input, for `-f -`. */
  readonly stdin?: Uint8Array
  readonly projectDirectory?: string
  readonly envFiles?: readonly string[]
  /** `--profile`; absent: COMPOSE_PROFILES. */
  readonly profiles?: readonly string[]
  /** Compose's project name. The name of the environment is in `PlanOptions`. */
  readonly projectName?: string
  /** Load only these services and their dependencies. */
  readonly services?: readonly string[]
  /** Activate the profiles of these services, without leaving out other services. */
  readonly activeServices?: readonly string[]
  readonly strict?: boolean
  /** Values that these rules take from Secrets need not be set. */
  readonly secretRules?: SecretRules
  /**
   * Assume a value for unset variables that an expression requires (`${NAME:?}`) and, with `all`,
   * for those that give a config or secret its content. For callers that need no values: the result
   * must not be written anywhere.
   */
  readonly assumesRequired?: 'expressions' | 'all'
  /** The settings of the command line for builds: the images that Dockerfiles name depend on them. */
  readonly buildOverrides?: BuildOverrides
  readonly manifest?: ManifestInputs
  /** `loaded`: stop after loading, and report only errors found until then (`devctl config`). */
  readonly until?: 'loaded'
}

/**
 * The settings of a manifest and its environment that concern the Compose files. Paths are
 * absolute.
 */
export interface ManifestInputs {
  /**
   * Files to merge over those that are named or found. They replace the `.override` file of a found
   * one.
   */
  readonly files?: readonly string[]
  /** The only folder to search for Compose files, if none is named. */
  readonly searchIn?: string
  /** Variables with precedence below the shell and above `.env`. */
  readonly variables?: readonly Pair[]
  /** Replaces the `endpoints` of the files, with a warning if they have any. */
  readonly endpoints?: Entry
  /** Positions at which the manifest names files (by absolute path) and services. */
  readonly places?: { readonly files: ReadonlyMap<string, Span>; readonly services: ReadonlyMap<string, Span> }
}

/** The settings of the environment to plan for. */
export interface PlanOptions {
  /**
   * The environment's name, not yet a DNS label. Absent: `name` of the file, then `fallbackName`.
   */
  readonly name?: string
  /**
   * The environment's name if neither an option nor a file gives one: the repository's or folder's.
   */
  readonly fallbackName?: string
  readonly namespace?: string
  readonly domain?: string
  readonly routes?: 'ingress' | 'gateway'
  /** `NAMESPACE/NAME`. */
  readonly gateway?: string
  readonly ingressClass?: string
  readonly tlsSecret?: string
  /** The cert-manager issuer for the hosts of all Ingresses. */
  readonly tlsIssuer?: { readonly kind: 'Issuer' | 'ClusterIssuer'; readonly name: string }
  /** Annotations of all routes. Those of a service or endpoint take precedence. */
  readonly routeAnnotations?: readonly Pair[]
  readonly policy?: 'restricted'
  /** `--image service=reference`. */
  readonly images?: ReadonlyMap<string, string>
  /** Positions at which a manifest sets images of services: an unknown service is reported as an error there. */
  readonly imagePlaces?: ReadonlyMap<string, Span>
  /**
   * The configurations of images, by service, where they are at hand: they refine ports,
   * healthchecks, users and warnings.
   */
  readonly imageConfigs?: ReadonlyMap<string, ImageConfig>
  readonly registry?: string
  readonly tag?: string
  readonly startOrder?: 'manifest' | 'client'
  readonly includeSecrets?: boolean
  readonly secretRules?: SecretRules
  /**
   * Values that are secret because of where they come from go into Secrets, since other objects are read by people who
   * may not see them (the viewers of a namespace of a platform); where a Secret cannot be used, a secret is refused.
   */
  readonly valuesApart?: boolean
  /** The key of the environment in the manifest that `secretRules` belong to, for hints. */
  readonly manifestEnvironment?: string
  /** Set by `publish`: a value that is or looks secret is an error, since it would be committed. */
  readonly forRepository?: boolean
  /**
   * Set by commands that build: the plan has what they need (`Plan.builds`). A deploy takes images
   * that the user has named by `--tag`, or by `image` with a `pull_policy` that pulls, as they are:
   * what they are built from is not read.
   */
  readonly forBuild?: 'build' | 'deploy'
  /**
   * Set by commands that work on a cluster: a folder that is too large to be copied is synchronized by `up`, and needs
   * no content in the manifests.
   */
  readonly leavesFoldersToUp?: boolean
  /** Give the plan although there are errors: it is what there would be without the parts that are wrong. */
  readonly plansErrors?: boolean
  /** The value of DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED: `true` (default) or `false`. */
  readonly volumeAffinity?: string
  /** The image of containers that wait or copy files into volumes. Default: `busybox:1.37`. */
  readonly shellImage?: string
  /** The image of containers that wait for Jobs. Default: `registry.k8s.io/kubectl:v1.34.2`. */
  readonly kubectlImage?: string
}
