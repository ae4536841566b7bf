import type { Pair } from './compose/project.ts'
import type { At, Span } from './text/source.ts'
import type { Entry } from './text/tree.ts'

/** How an environment of a manifest keeps secrets out of what is written (`environments.NAME.secrets`). */
export interface SecretRules {
  /** What makes the Secrets: nothing of ours, External Secrets, Sealed Secrets, or the controller that decrypts what SOPS has encrypted. */
  readonly backend: 'reference' | 'external' | 'sealed' | 'sops'
  /** The SecretStore of `external`, where it is there as soon as the manifest has no errors. */
  readonly store?: At<string>
  readonly storeKind: 'SecretStore' | 'ClusterSecretStore'
  /** The file with the certificate of `sealed`, relative to the manifest. */
  readonly certificate?: At<string>
  /** The recipients of `sops`; none: the rules of the repository say them. */
  readonly age: readonly At<string>[]
  /** By the path of the value: `services.db.environment.POSTGRES_PASSWORD`, `secrets.token`. */
  readonly values: ReadonlyMap<string, SecretSource>
  /** Paths of values that look secret and are not. */
  readonly public: readonly At<string>[]
}

/** The Secret that a value comes from. */
export interface SecretSource {
  readonly secret: At<string>
  readonly key: At<string>
  /** What `external` asks the store for; absent: the Secret's name and the key. */
  readonly remote?: At<string>
  readonly property?: At<string>
  /** Where the path is written. */
  readonly span: Span
}

/** What to load. Paths are absolute; nothing here is read from a context or a kubeconfig. */
export interface LoadOptions {
  /** The folder devctl runs in: discovery starts here, and diagnostics show paths relative to it. */
  readonly workingDirectory: string
  /** `-f`, in order, as given; `-` is standard input. Empty: COMPOSE_FILE, then discovery. */
  readonly files?: readonly string[]
  /** What standard input holds, for `-f -`. */
  readonly stdin?: Uint8Array
  readonly projectDirectory?: string
  readonly envFiles?: readonly string[]
  /** `--profile`; when absent COMPOSE_PROFILES decides. */
  readonly profiles?: readonly string[]
  /** `--name` of Compose's project: for the environment's name see PlanOptions. */
  readonly projectName?: string
  /** Only these services and what they depend on. */
  readonly services?: readonly string[]
  /** Services whose profiles are active, too; nothing is left out for them. */
  readonly activeServices?: readonly string[]
  readonly strict?: boolean
  /** Values that come from Secrets need not be known. */
  readonly secretRules?: SecretRules
  /**
   * The values of variables do not matter: where nothing sets one that an expression requires (`${NAME:?}`), or, with `all`, one that a config or a secret is made of, that is
   * no error. Nothing that is made of it may be written.
   */
  readonly assumesRequired?: 'expressions' | 'all'
  /** What a manifest adds. */
  readonly manifest?: ManifestInputs
  /** `loaded`: stop after loading. No project and no plan are made, and only the mistakes that loading finds are reported (`devctl config`). */
  readonly until?: 'loaded'
}

/** What a manifest and its environment say about the Compose files. Paths are absolute. */
export interface ManifestInputs {
  /** Files that are merged over those that are named or found; the `.override` sibling of a found one is then left out. */
  readonly files?: readonly string[]
  /** The only folder in which Compose files are looked for, where none is named. */
  readonly searchIn?: string
  /** Variables below the shell and above `.env`. */
  readonly variables?: readonly Pair[]
  /** Takes the place of the files' own `endpoints`, with a warning where they have some. */
  readonly endpoints?: Entry
  /** Where the manifest names files (by absolute path) and services. */
  readonly places?: { readonly files: ReadonlyMap<string, Span>; readonly services: ReadonlyMap<string, Span> }
}

export interface PlanOptions {
  /** The environment's name before it is made a DNS label; absent: `name` of the file, repository, folder (the caller gives the last two). */
  readonly name?: string
  /** What to call the environment when neither an option nor a file does. */
  readonly fallbackName?: string
  readonly namespace?: string
  readonly domain?: string
  readonly routes?: 'ingress' | 'gateway'
  /** `NAMESPACE/NAME`. */
  readonly gateway?: string
  readonly ingressClass?: string
  readonly tlsSecret?: string
  /** An issuer of cert-manager for the hosts of all Ingresses. */
  readonly tlsIssuer?: { readonly kind: 'Issuer' | 'ClusterIssuer'; readonly name: string }
  /** Annotations of all routes; what a service or an endpoint says goes before. */
  readonly routeAnnotations?: readonly Pair[]
  readonly policy?: 'restricted'
  /** `--image service=reference`. */
  readonly images?: ReadonlyMap<string, string>
  /** Where a manifest gives services their images: an unknown service is an error there. */
  readonly imagePlaces?: ReadonlyMap<string, Span>
  readonly registry?: string
  readonly tag?: string
  readonly startOrder?: 'manifest' | 'client'
  readonly includeSecrets?: boolean
  readonly secretRules?: SecretRules
  /** What the manifest calls the environment that `secretRules` are of, for lines to paste. */
  readonly manifestEnvironment?: string
  /** Set by `publish`: a value that is, or looks, secret is an error, since a repository shows it to everybody. */
  readonly forRepository?: boolean
  /** The text of DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED: `true`, which is the default, or `false`. */
  readonly volumeAffinity?: string
  /** Image of the waits and of copy-up; default `busybox:1.37`. */
  readonly shellImage?: string
  /** Image of the waits for Jobs; default `registry.k8s.io/kubectl:v1.34.2`. */
  readonly kubectlImage?: string
}
