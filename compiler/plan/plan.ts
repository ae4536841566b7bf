import type { Span } from '../text/source.ts'

/**
 * The desired content of the cluster: kinds, names, ports, claims, waits. Independent of its
 * source, so that the constructs can also build workloads that no Compose file described.
 * Everything is in the order in which it should be applied where that matters.
 */
export interface Plan {
  readonly environment: Environment
  readonly workloads: readonly WorkloadPlan[]
  readonly services: readonly ServicePlan[]
  readonly routes: readonly RoutePlan[]
  /** Routes that a domain would add. */
  readonly openRoutes: readonly RoutePlan[]
  readonly claims: readonly ClaimPlan[]
  readonly configMaps: readonly ConfigMapPlan[]
  readonly secrets: readonly SecretPlan[]
  /** The ExternalSecrets, if the environment uses that backend. */
  readonly externalSecrets: readonly ExternalSecretPlan[]
  /**
   * Keys of Secrets that Pods need and that neither the manifests nor an ExternalSecret among them
   * provide; sorted.
   */
  readonly requiredSecrets: readonly RequiredSecret[]
  readonly policies: readonly NetworkPolicyPlan[]
  /** The image of each Compose service that has one, sorted by the service's name in the file. */
  readonly images: ReadonlyMap<string, string>
  /** The images that a build makes, those of active services first; only for commands that build. */
  readonly builds: readonly BuildPlan[]
  /** Number of services in the files, for the summary line. */
  readonly serviceCount: number
  /** The Pod Security level that the result needs, and what forces it. */
  readonly security: SecurityLevel
}

export interface Environment {
  /** DNS label. */
  readonly name: string
  readonly namespace?: string
}

/** An image that a build makes. */
export interface BuildPlan {
  /** Name of the service in the Compose file. */
  readonly service: string
  /** Its reference in the manifests. */
  readonly image: string
  /**
   * The name that only an image of this content has: its tag is a hash of what is built. Equal to
   * `image` unless the file or an option names that. Undefined if what is called `image` is taken as
   * it is: a deploy with `--tag` or a `pull_policy` that pulls, a digest, or a context that is not
   * here.
   */
  readonly contentImage: string | undefined
  /** False if the reference has a placeholder for the registry. */
  readonly hasRegistry: boolean
  /** The services whose images the build uses. */
  readonly dependsOn: readonly string[]
  /** The position of `build`. */
  readonly span: Span
}

export interface SecurityLevel {
  readonly level: 'restricted' | 'baseline' | 'privileged'
  readonly reasons: readonly {
    readonly service: string
    readonly field: string
    readonly level: 'baseline' | 'privileged'
    /** Absent where no key says it: `user` of an image that may run as root. */
    readonly span?: Span
  }[]
}

/** The fields that all objects have in common. */
export interface ObjectPlan {
  /** Name of the object; a DNS label or subdomain. For a Job, the name before its hash. */
  readonly name: string
  /** `compose.yaml#services.web`: the first comment line of its document. */
  readonly source: string
  /**
   * The Compose service it belongs to in Kubernetes' form, or undefined for what services share.
   * Also its folder in the output.
   */
  readonly service?: string
  readonly annotations?: Readonly<Record<string, string>>
  readonly span?: Span
}

export type WorkloadPlan = DeploymentPlan | StatefulSetPlan | DaemonSetPlan | JobPlan

interface WorkloadBase extends ObjectPlan {
  readonly service: string
  readonly pod: PodPlan
  /** Absent: left to the cluster (autoscaler, `up`). */
  readonly replicas?: number
  /**
   * The dependencies of its services, sorted by name: the order in which `deploy` applies and
   * waits. In manifests `pod.waits` keeps it.
   */
  readonly dependencies?: readonly DependencyPlan[]
  /** `compose.yaml#services.web.depends_on`: why it waits for Jobs. Absent: it does not. */
  readonly waitsSource?: string
}

export interface DependencyPlan {
  /** The service of the workload that is waited for (its lead, in a group), in Kubernetes' form. */
  readonly service: string
  readonly condition: 'service_started' | 'service_healthy' | 'service_completed_successfully'
}

export interface RollingUpdate {
  readonly type: 'RollingUpdate'
  readonly maxSurge?: number | string
  readonly maxUnavailable?: number | string
}

export interface DeploymentPlan extends WorkloadBase {
  readonly kind: 'Deployment'
  /** Absent: Kubernetes' default. */
  readonly update?: RollingUpdate | { readonly type: 'Recreate' }
  readonly minReadySeconds?: number
  readonly progressDeadlineSeconds?: number
}

export interface StatefulSetPlan extends WorkloadBase {
  readonly kind: 'StatefulSet'
  readonly serviceName: string
  readonly update?: RollingUpdate | { readonly type: 'OnDelete' }
  readonly claimTemplates: readonly ClaimSpec[]
  readonly minReadySeconds?: number
}

export interface DaemonSetPlan extends WorkloadBase {
  readonly kind: 'DaemonSet'
  readonly update?: RollingUpdate | { readonly type: 'OnDelete' }
  readonly minReadySeconds?: number
}

/**
 * The Job's real name is `name` and a hash of its rendered Pod template: constructs/job-name.ts.
 */
export interface JobPlan extends WorkloadBase {
  readonly kind: 'Job'
  readonly restartPolicy: 'Never' | 'OnFailure'
  readonly backoffLimit: number
  /** True if the Job has ports, a healthcheck or an endpoint: it is ready when its Pod is. */
  readonly isServer?: boolean
  /** Completions and parallelism, from `scale`. */
  readonly completions?: number
}

export interface PodPlan {
  /**
   * The services whose containers the Pod has, in Kubernetes' form; the first one gives the labels.
   */
  readonly services: readonly string[]
  /**
   * Labels beyond the standard ones, e.g. `network.devctl/backend: "true"`,
   * `dev.platform/volume-data: "true"`.
   */
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly containers: readonly ContainerPlan[]
  /** The waits before anything else starts, in order. */
  readonly waits: readonly WaitPlan[]
  /** Fills empty volumes from the image; after the waits. */
  readonly fills: readonly FillPlan[]
  /**
   * pre_start hooks, and group members that others wait for (`sidecar`); after the fills, in order.
   */
  readonly init: readonly (ContainerPlan & { readonly sidecar?: boolean })[]
  readonly volumes: readonly PodVolume[]
  /** Names of the Secrets with credentials for the registries of its images. */
  readonly pullSecrets?: readonly string[]
  readonly terminationGracePeriodSeconds: number
  readonly hostname?: string
  readonly subdomain?: string
  readonly hostNetwork?: boolean
  readonly hostPID?: boolean
  readonly hostIPC?: boolean
  readonly shareProcessNamespace?: boolean
  readonly hostUsers?: boolean
  readonly runtimeClassName?: string
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames: readonly string[] }[]
  readonly dns?: {
    readonly nameservers?: readonly string[]
    readonly searches?: readonly string[]
    readonly options?: readonly { readonly name: string; readonly value?: string }[]
  }
  readonly sysctls?: readonly { readonly name: string; readonly value: string }[]
  readonly supplementalGroups?: readonly number[]
  readonly fsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly nodeSelector?: Readonly<Record<string, string>>
  /** Required node affinity: all of them must hold. `field` is for metadata.name. */
  readonly nodeRequirements?: readonly NodeRequirement[]
  /** Label of the Pod that marks a shared volume: Pods with it go to one node. */
  readonly colocate?: readonly string[]
  /** True if at most one Pod of this workload may run on a node. */
  readonly spreadOut?: boolean
  /** Node labels to spread over, best effort. */
  readonly topologyKeys?: readonly string[]
}

export interface NodeRequirement {
  readonly key: string
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  readonly values?: readonly string[]
  readonly field?: boolean
}

export interface ContainerPlan {
  readonly name: string
  readonly image: string
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never'
  /**
   * Literal words, whose `$` the constructs escape for Kubernetes, and references to variables (argument-variables.ts).
   */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workingDir?: string
  /** Variables in the order to print. */
  readonly env: readonly EnvPlan[]
  readonly ports: readonly ContainerPort[]
  readonly readinessProbe?: ProbePlan
  readonly livenessProbe?: ProbePlan
  readonly startupProbe?: ProbePlan
  readonly postStart?: readonly string[]
  readonly preStop?: readonly string[]
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>
    readonly limits?: Readonly<Record<string, string>>
  }
  readonly mounts: readonly ContainerMount[]
  readonly security?: ContainerSecurity
  readonly stdin?: boolean
  readonly tty?: boolean
  /** Set if the container stays when its program has ended. */
  readonly once?: OncePlan
}

/** A program that may end without its container, which shares a Pod that lasts. */
export interface OncePlan {
  /** The words of the image's entrypoint and command that come before the container's own. */
  readonly words?: readonly string[]
  /** Number of restarts after failures; absent: no limit. */
  readonly retries?: number
  /** The small shell image whose static busybox runs the program. */
  readonly toolsImage: string
}

/** A variable: its literal value, or the key of a Secret that holds it. */
export type EnvPlan =
  | { readonly name: string; readonly value: string; readonly secret?: never }
  | { readonly name: string; readonly secret: SecretKey; readonly value?: never }

export interface SecretKey {
  /** Name of the Secret. */
  readonly name: string
  readonly key: string
}

export interface ContainerPort {
  readonly name: string
  readonly port: number
  readonly protocol: 'TCP' | 'UDP' | 'SCTP'
  readonly hostPort?: number
}

export interface ProbePlan {
  readonly check:
    | { readonly kind: 'exec'; readonly command: readonly string[] }
    | { readonly kind: 'http'; readonly path: string; readonly port: number }
    | { readonly kind: 'tcp'; readonly port: number }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly failureThreshold?: number
}

export interface ContainerSecurity {
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly runAsNonRoot?: boolean
  readonly privileged?: boolean
  readonly readOnlyRootFilesystem?: boolean
  readonly allowPrivilegeEscalation?: boolean
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] }
  readonly seccompProfile?: {
    readonly type: 'Unconfined' | 'Localhost' | 'RuntimeDefault'
    readonly localhostProfile?: string
  }
  readonly appArmorProfile?: { readonly type: 'Unconfined' | 'Localhost'; readonly localhostProfile?: string }
  readonly seLinuxOptions?: {
    readonly user?: string
    readonly role?: string
    readonly type?: string
    readonly level?: string
  }
  readonly procMount?: 'Unmasked'
}

export interface ContainerMount {
  /** Name of the Pod's volume. */
  readonly volume: string
  readonly path: string
  readonly subPath?: string
  readonly readOnly?: boolean
  readonly propagation?: 'Bidirectional' | 'HostToContainer'
  readonly recursiveReadOnly?: boolean
}

export type PodVolume =
  | { readonly kind: 'claim'; readonly name: string; readonly claim: string; readonly readOnly?: boolean }
  /** A generic ephemeral volume: a claim that lives as long as the Pod. */
  | { readonly kind: 'ephemeral'; readonly name: string; readonly spec: ClaimSpec }
  | { readonly kind: 'memory'; readonly name: string; readonly sizeLimit?: string }
  | { readonly kind: 'empty'; readonly name: string }
  | {
      readonly kind: 'configMap'
      readonly name: string
      readonly configMap: string
      readonly mode?: number
      readonly items?: readonly KeyPath[]
    }
  | {
      readonly kind: 'secret'
      readonly name: string
      readonly secret: string
      readonly mode?: number
      readonly items?: readonly KeyPath[]
    }
  /**
   * Files of several objects in one folder; `folders` are empty ones, for what is mounted there.
   */
  | {
      readonly kind: 'projected'
      readonly name: string
      readonly sources: readonly {
        readonly kind: 'configMap' | 'secret'
        readonly object: string
        readonly items: readonly KeyPath[]
      }[]
      readonly folders: readonly string[]
    }
  | {
      readonly kind: 'nfs'
      readonly name: string
      readonly server: string
      readonly path: string
      readonly readOnly?: boolean
    }
  | {
      readonly kind: 'image'
      readonly name: string
      readonly reference: string
      readonly pullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
    }
  | { readonly kind: 'hostPath'; readonly name: string; readonly path: string; readonly type?: string }

export interface KeyPath {
  readonly key: string
  readonly path: string
  readonly mode?: number
}

/**
 * A wait in an init container. Job waits name the service; constructs/job-name.ts knows the Job's
 * real name.
 */
export type WaitPlan =
  | {
      readonly kind: 'port'
      readonly service: string
      readonly host: string
      readonly port: number
      readonly image: string
    }
  | { readonly kind: 'name'; readonly service: string; readonly host: string; readonly image: string }
  /**
   * `toolsImage`: the small shell image whose static busybox runs the loop that also notices a
   * failed Job (the kubectl image has no shell).
   */
  | { readonly kind: 'job'; readonly service: string; readonly image: string; readonly toolsImage: string }

/** Fills an empty volume from the image's directory, once, or gives it to a user, or both. */
export interface FillPlan {
  /** The volume in the Pod; the init container is `fill-<volume>`, or `own-<volume>` if nothing is copied. */
  readonly volume: string
  /** The directory of the volume that is mounted (the `subPath` of the mount). */
  readonly directory: string
  /** The image's directory to copy. */
  readonly path: string
  readonly image: string
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never'
  /** The small shell image whose static busybox does the work. */
  readonly toolsImage: string
  /** True if the Pod may not run as root: owners are left to fsGroup. */
  readonly rootless: boolean
  readonly security?: ContainerSecurity
  /** The user who gets the directory while root owns it, and the files that are copied. */
  readonly owner?: FillOwner
  /** True if nothing is copied. */
  readonly isEmpty?: true
}

/** A user of the image and their group, by number or by name, and whether other users write to the directory, too. */
export interface FillOwner {
  readonly user: string
  readonly group?: string
  readonly isShared: boolean
}

export interface ServicePlan extends ObjectPlan {
  readonly service: string
  /**
   * The service whose Pods it selects, in Kubernetes' form (the lead of the group), or the label of
   * an alias.
   */
  readonly selects: { readonly service: string } | { readonly label: string }
  /** Ports; without any, the Service is headless. */
  readonly ports: readonly ServicePort[]
  /** dnsrr: headless although it has ports. */
  readonly headless: boolean
  /**
   * True if the Service also leads to Pods that are not ready: the service reaches itself, or its peers in a cluster.
   */
  readonly publishesNotReady?: true
  /** external_links: a CNAME instead of a selector. */
  readonly externalName?: string
  /** Settings for connections from outside the cluster (`x-expose`). */
  readonly exposed?: {
    readonly type: 'LoadBalancer' | 'NodePort'
    readonly loadBalancerClass?: string
    readonly sourceRanges: readonly string[]
  }
}

export interface ServicePort {
  readonly name: string
  readonly port: number
  readonly targetPort: number
  readonly protocol: 'TCP' | 'UDP' | 'SCTP'
  readonly appProtocol?: string
  readonly nodePort?: number
}

export interface RoutePlan extends ObjectPlan {
  readonly kind: 'Ingress' | 'HTTPRoute'
  readonly host: string
  /** The host is the user's own, and does not end in the domain of the environment. */
  readonly isOwnHost: boolean
  /**
   * Nothing is made of it, and what an earlier deploy has made of it stays: no domain is given, and
   * there are hosts without one.
   */
  readonly isOpen?: true
  readonly rules: readonly { readonly path: string; readonly service: string; readonly port: number }[]
  readonly ingressClassName?: string
  readonly tlsSecret?: string
  /** `NAMESPACE/NAME`. */
  readonly gateway?: { readonly namespace: string; readonly name: string }
}

export interface ClaimSpec {
  readonly name: string
  readonly size: string
  readonly storageClass?: string
  readonly accessMode: 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadOnlyMany' | 'ReadWriteOncePod'
  readonly annotations?: Readonly<Record<string, string>>
}

export interface ClaimPlan extends ObjectPlan {
  readonly spec: ClaimSpec
}

export interface ConfigMapPlan extends ObjectPlan {
  /** Keys to content; content that is not UTF-8 goes to binaryData. */
  readonly data: Readonly<Record<string, Uint8Array>>
  /** Its path in a manifest: `configs.site`, `services.web.volumes./etc/site`. */
  readonly path?: string
}

export interface SecretPlan extends ObjectPlan {
  /** Absent: Opaque, Kubernetes' default. */
  readonly type?: string
  readonly data: Readonly<Record<string, Uint8Array>>
  /**
   * Its path in a manifest: `secrets.token`, `services.web.volumes./run/key.pem`. Absent if it has
   * several parts.
   */
  readonly path?: string
}

/** An ExternalSecret (external-secrets.io/v1), which makes the Secret of its name. */
export interface ExternalSecretPlan extends ObjectPlan {
  readonly store: { readonly name: string; readonly kind: 'SecretStore' | 'ClusterSecretStore' }
  /** Sorted by key. */
  readonly data: readonly {
    readonly secretKey: string
    readonly remote: { readonly key: string; readonly property: string }
  }[]
}

/** A key of a Secret that the cluster has to hold. */
export interface RequiredSecret {
  readonly secret: string
  readonly key: string
  /** `services.db.environment.POSTGRES_PASSWORD`, `secrets.token`. */
  readonly usedBy: string
  /** The position in the manifest that says so; absent for what the Compose files say. */
  readonly span?: Span
}

export interface NetworkPolicyPlan extends ObjectPlan {
  /** Labels of the Pods it is about; empty: all of the environment. */
  readonly podLabels: Readonly<Record<string, string>>
  /** The peers that may connect; undefined leaves ingress alone, an empty list denies all. */
  readonly ingress?: readonly PolicyPeerRule[]
  readonly egress?: readonly PolicyPeerRule[]
}

export interface PolicyPeerRule {
  /** Labels of the Pods that are allowed; absent: any address. */
  readonly podLabels?: Readonly<Record<string, string>>
  /** `dns`: the cluster's DNS, whatever namespace it is in. */
  readonly dns?: boolean
  readonly ports?: readonly { readonly port: number; readonly protocol: 'TCP' | 'UDP' | 'SCTP' }[]
}
