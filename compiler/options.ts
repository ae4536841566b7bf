/** What to load. Paths are absolute; nothing here is read from a context or a kubeconfig (decisions section 4, "Where values come from"). */
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
  readonly strict?: boolean
  /** `loaded`: stop after loading. No project and no plan are made, and only the mistakes that loading finds are reported (`devctl config`). */
  readonly until?: 'loaded'
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
  readonly policy?: 'restricted'
  /** `--image service=reference`. */
  readonly images?: ReadonlyMap<string, string>
  readonly registry?: string
  readonly tag?: string
  readonly startOrder?: 'manifest' | 'client'
  readonly includeSecrets?: boolean
  /** DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED; default true. */
  readonly volumeAffinity?: boolean
  /** Image of the waits and of copy-up; default `busybox:1.37`. */
  readonly shellImage?: string
  /** Image of the waits for Jobs; default `registry.k8s.io/kubectl:v1.34.2`. */
  readonly kubectlImage?: string
}
