import type { Span } from '../text/source.ts'
import type { FieldMap } from '../values/kubernetes/fields.ts'

/**
 * The desired content of the cluster: kinds, names, ports, claims and waits. The plan does not depend on Compose, so
 * the library in constructs/ can also build workloads that no Compose file describes. Lists are in the order in which
 * they should be applied, if the order matters.
 */
export interface Plan {
  readonly environment: Environment
  readonly workloads: readonly WorkloadPlan[]
  readonly services: readonly ServicePlan[]
  readonly routes: readonly RoutePlan[]
  /** Routes that would be added if a domain were set. */
  readonly openRoutes: readonly RoutePlan[]
  readonly claims: readonly ClaimPlan[]
  readonly configMaps: readonly ConfigMapPlan[]
  readonly secrets: readonly SecretPlan[]
  /** The ExternalSecrets, if the environment uses the backend `external`. */
  readonly externalSecrets: readonly ExternalSecretPlan[]
  /** Keys of Secrets that Pods need and that neither the manifests nor their ExternalSecrets provide; sorted. */
  readonly requiredSecrets: readonly RequiredSecret[]
  readonly policies: readonly NetworkPolicyPlan[]
  readonly autoscalers: readonly AutoscalerPlan[]
  readonly serviceAccounts: readonly ServiceAccountPlan[]
  /** Objects that the files contain as a whole. */
  readonly objects: readonly WholeObjectPlan[]
  /** The image of each Compose service that has one, sorted by the service's name in the file. */
  readonly images: ReadonlyMap<string, string>
  /**
   * Services that share the Pod of another service and should run only once, but whose images start unknown programs;
   * sorted. See `lacksProgram`.
   */
  readonly unknownPrograms: readonly string[]
  /** The images to build, starting with the images of active services. Used only by commands that build. */
  readonly builds: readonly BuildPlan[]
  /** Number of services in the files, for the summary line. */
  readonly serviceCount: number
  /** Number of jobs, which are not among the services. */
  readonly jobCount: number
  /** The Pod Security level that the result needs, with the reasons for it. */
  readonly security: SecurityLevel
}

export interface Environment {
  /** Name of the environment, as a DNS label. */
  readonly name: string
  readonly namespace?: string
}

/** A HorizontalPodAutoscaler. It scales `target` between `min` and `max` Pods. */
export interface AutoscalerPlan extends ObjectPlan {
  readonly service: string
  readonly target: { readonly kind: 'Deployment' | 'StatefulSet'; readonly name: string }
  readonly min: number
  readonly max: number
  /** Target for the average use of the requested CPU time, in percent. */
  readonly cpu?: number
  /** Target for the average use of the requested memory, in percent. */
  readonly memory?: number
}

/** Fields that the user adds to an object with `x-kubernetes`. A strategic merge adds them to the object. */
export interface PiecePlan {
  readonly labels?: Readonly<Record<string, string>>
  /** The fields of the spec, and the type of the spec in the Kubernetes API, such as `DeploymentSpec`. */
  readonly spec?: FieldMap
  readonly type: string
}

/** A ServiceAccount of the Pods of a service. */
export interface ServiceAccountPlan extends ObjectPlan {
  readonly service: string
  readonly labels?: Readonly<Record<string, string>>
  /** The fields of the ServiceAccount, without its metadata. */
  readonly fields: FieldMap
}

/** An object that the files contain as a whole. */
export interface WholeObjectPlan extends ObjectPlan {
  readonly kind: string
  readonly json: FieldMap
}

/** An image to build for a service. */
export interface BuildPlan {
  /** Name of the service in the Compose file. */
  readonly service: string
  /** Reference of the image in the manifests. */
  readonly image: string
  /**
   * Image name that only an image with this content has, because its tag is a hash of the build input. Equal to `image`
   * unless the file or an option sets the name or the tag. Undefined if only `image` can be used: for a digest, for a
   * build context that is not on this machine, or if `deploy` uses `--tag` or a `pull_policy` that pulls.
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
    /**
     * Position of the key that forces the level. Absent if no key does, such as for the `user` of an image that may run
     * as root.
     */
    readonly span?: Span
  }[]
}

/** The fields that all objects have in common. */
export interface ObjectPlan {
  /** Name of the object; a DNS label or subdomain. For a Job, the name before its hash. */
  readonly name: string
  /** Source of the object, such as `compose.yaml#services.web`. Printed as the first comment line of its document. */
  readonly source: string
  /**
   * The Compose service that the object belongs to, as its Kubernetes name; undefined for objects that services share.
   * Also the object's folder in the output.
   */
  readonly service?: string
  readonly annotations?: Readonly<Record<string, string>>
  /** Fields from `x-kubernetes`. */
  readonly piece?: PiecePlan
  readonly span?: Span
}

export type WorkloadPlan = DeploymentPlan | StatefulSetPlan | DaemonSetPlan | JobPlan

interface WorkloadBase extends ObjectPlan {
  readonly service: string
  readonly pod: PodPlan
  /** Number of replicas. If absent, the cluster decides (autoscaler, `up`). */
  readonly replicas?: number
  /**
   * The dependencies of the workload's services, sorted by name. `deploy` derives from them the order in which it
   * applies and waits for workloads. In manifests, `pod.waits` enforces this order.
   */
  readonly dependencies?: readonly DependencyPlan[]
  /**
   * Source of the waits for Jobs, such as `compose.yaml#services.web.depends_on`. If absent, the workload does not wait
   * for Jobs.
   */
  readonly waitsSource?: string
}

export interface DependencyPlan {
  /** Kubernetes name of the service whose workload is waited for (the lead, in a group). */
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
  /** Update strategy. If absent, Kubernetes uses its default. */
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

/** A Job. Its real name is `name` plus a hash of its rendered Pod template: see constructs/job-name.ts. */
export interface JobPlan extends WorkloadBase {
  readonly kind: 'Job'
  readonly restartPolicy: 'Never' | 'OnFailure'
  readonly backoffLimit: number
  /** True if the Job has ports, a healthcheck or an endpoint, so that it counts as ready when its Pod is ready. */
  readonly isServer?: boolean
  /**
   * Number of Pods that have to complete, all of which run at the same time (`completions` and `parallelism`). Comes
   * from `scale`.
   */
  readonly completions?: number
  /** CronJobs that create the Job; at least one. If absent, the Job runs at the deploy. */
  readonly cronJobs?: readonly CronJobPlan[]
}

/** A CronJob, without the Pods of its Job. */
export interface CronJobPlan extends ObjectPlan {
  readonly service: string
  readonly schedule: string
  readonly timeZone?: string
  readonly concurrency: 'Allow' | 'Forbid'
  /**
   * Maximum delay of the start of a run after its scheduled time, in seconds. If absent, a missed run starts as soon as
   * it can.
   */
  readonly startingDeadline?: number
  /** True for a job that runs only when a user starts it. */
  readonly suspended?: true
}

export interface PodPlan {
  /** Kubernetes names of the services whose containers are in the Pod; the first one determines the labels. */
  readonly services: readonly string[]
  /**
   * Labels beyond the standard ones, e.g. `network.devctl/backend: "true"`,
   * `dev.platform/volume-data: "true"`.
   */
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly containers: readonly ContainerPlan[]
  /** Waits that run in order before anything else starts. */
  readonly waits: readonly WaitPlan[]
  /**
   * Kubernetes names of services. A change of the Pod template of such a service also replaces the Pods of this
   * workload.
   */
  readonly restartsWith?: readonly string[]
  /** Fills of empty volumes from the image; they run after the waits. */
  readonly fills: readonly FillPlan[]
  /** pre_start hooks, and group members that other members wait for (`sidecar`). They run in order, after the fills. */
  readonly init: readonly (ContainerPlan & { readonly sidecar?: boolean })[]
  readonly volumes: readonly PodVolume[]
  /** Names of the Secrets with the credentials for the registries of the Pod's images. */
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
  /**
   * Required node affinity: all requirements must be met. A requirement with `field` refers to the node's field
   * metadata.name instead of a label.
   */
  readonly nodeRequirements?: readonly NodeRequirement[]
  /** Labels that mark shared volumes. All Pods with the same label run on one node. */
  readonly colocate?: readonly string[]
  /** True if a node must not run more than one Pod of this workload. */
  readonly spreadOut?: boolean
  /** Node labels (topology keys) to spread the Pods over, on a best-effort basis. */
  readonly topologyKeys?: readonly string[]
  /** Name of the ServiceAccount. If absent, the Pods need none of their own. */
  readonly serviceAccount?: string
  /** Fields of the PodSpec from `x-kubernetes`. */
  readonly fields?: FieldMap
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
   * The command: literal arguments, whose `$` the constructs escape for Kubernetes, and references to variables
   * (argument-variables.ts).
   */
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workingDir?: string
  /** Variables, in the order in which they are printed. */
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
  /** Set if the container keeps running after its program has ended. */
  readonly once?: OncePlan
  /** Fields of the Container from `x-kubernetes`. */
  readonly fields?: FieldMap
}

/**
 * A program that may end while its container keeps running, because the container shares a Pod with long-running ones.
 */
export interface OncePlan {
  /** The entrypoint of the image, if the container has no command of its own. */
  readonly entrypoint?: readonly string[]
  /** The command of the image, if the container has no arguments of its own. */
  readonly cmd?: readonly string[]
  /** Maximum number of restarts after failures. If absent, there is no limit. */
  readonly retries?: number
  /** The small shell image whose static busybox runs the program. */
  readonly toolsImage: string
}

/** An environment variable, with its literal value or the key of the Secret or ConfigMap that holds it. */
export type EnvPlan =
  | { readonly name: string; readonly value: string; readonly secret?: never; readonly config?: never }
  | { readonly name: string; readonly secret: SecretKey; readonly value?: never; readonly config?: never }
  | { readonly name: string; readonly config: ConfigKey; readonly value?: never; readonly secret?: never }

export interface ConfigKey {
  /** Name of the ConfigMap. */
  readonly name: string
  readonly key: string
}

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
  /** A folder with files from several objects. `folders` are empty folders that serve as mount points. */
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
 * A wait in an init container. Job waits contain the service name; constructs/job-name.ts determines the Job's real
 * name.
 */
export type WaitPlan =
  | {
      readonly kind: 'port'
      readonly service: string
      readonly host: string
      /** Ports of which one must accept a connection; at least one. */
      readonly ports: readonly number[]
      readonly image: string
    }
  | { readonly kind: 'name'; readonly service: string; readonly host: string; readonly image: string }
  /**
   * A wait for a Job. `toolsImage` is the small shell image whose static busybox runs the wait loop, which also detects
   * a failed Job. The kubectl image has no shell.
   */
  | { readonly kind: 'job'; readonly service: string; readonly image: string; readonly toolsImage: string }

/**
 * A step that copies the image's directory into an empty volume once, changes the owner of the directory, or does both.
 */
export interface FillPlan {
  /**
   * Name of the volume in the Pod. The init container is called `fill-<volume>`, or `own-<volume>` if nothing is
   * copied.
   */
  readonly volume: string
  /** Path, in the volume, of the mounted directory (the `subPath` of the mount). */
  readonly directory: string
  /** Path, in the image, of the directory to copy. */
  readonly path: string
  readonly image: string
  readonly imagePullPolicy: 'Always' | 'IfNotPresent' | 'Never'
  /** The small shell image whose static busybox does the work. */
  readonly toolsImage: string
  /** True if the Pod may not run as root. The owner of the files is then not changed; fsGroup grants access instead. */
  readonly rootless: boolean
  readonly security?: ContainerSecurity
  /** The user who becomes the owner of the copied files, and also of the directory if root owns it. */
  readonly owner?: FillOwner
  /** True if nothing is copied. */
  readonly isEmpty?: true
}

/**
 * A user of the image and their group, as numbers or names. `isShared` is true if other users also write to the
 * directory.
 */
export interface FillOwner {
  readonly user: string
  readonly group?: string
  readonly isShared: boolean
}

export interface ServicePlan extends ObjectPlan {
  readonly service: string
  /**
   * Pods that the Service selects: the Pods of a service, as its Kubernetes name (the lead, in a group), or the Pods
   * with the label of an alias.
   */
  readonly selects: { readonly service: string } | { readonly label: string }
  /** Ports of the Service. Without ports, the Service is headless. */
  readonly ports: readonly ServicePort[]
  /** True for a Service that is headless although it has ports (`endpoint_mode: dnsrr`). */
  readonly headless: boolean
  /**
   * True if the Service also routes to Pods that are not ready, because the service has to reach itself or its cluster
   * peers.
   */
  readonly publishesNotReady?: true
  /** CNAME target that replaces the selector (`external_links`). */
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
  /** True for a custom host, which the user has set. False for a host that is derived from the environment's domain. */
  readonly isOwnHost: boolean
  /**
   * True if the route has no address, because no domain is set and the endpoint or port has custom hosts. No object is
   * created for this route, but an object that an earlier deploy created for it is kept.
   */
  readonly isOpen?: true
  readonly rules: readonly { readonly path: string; readonly service: string; readonly port: number }[]
  readonly ingressClassName?: string
  readonly tlsSecret?: string
  /** The Gateway of the route. Written as `NAMESPACE/NAME` in the options. */
  readonly gateway?: { readonly namespace: string; readonly name: string }
}

export interface ClaimSpec {
  readonly name: string
  readonly size: string
  readonly storageClass?: string
  readonly accessMode: 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadOnlyMany' | 'ReadWriteOncePod'
  readonly annotations?: Readonly<Record<string, string>>
  /** Fields from `x-kubernetes`. Set only for a claim that is part of a workload. */
  readonly piece?: PiecePlan
}

export interface ClaimPlan extends ObjectPlan {
  readonly spec: ClaimSpec
}

export interface ConfigMapPlan extends ObjectPlan {
  /** Contents by key. Content that is not UTF-8 goes to binaryData. */
  readonly data: Readonly<Record<string, Uint8Array>>
  /** Path of the config in a manifest, such as `configs.site` or `services.web.volumes./etc/site`. */
  readonly path?: string
}

export interface SecretPlan extends ObjectPlan {
  /** Type of the Secret. If absent, Kubernetes uses its default, Opaque. */
  readonly type?: string
  readonly data: Readonly<Record<string, Uint8Array>>
  /**
   * Path of the secret in a manifest, such as `secrets.token` or `services.web.volumes./run/key.pem`. Absent if the
   * Secret has several sources.
   */
  readonly path?: string
}

/** An ExternalSecret (external-secrets.io/v1), which creates the Secret with the same name. */
export interface ExternalSecretPlan extends ObjectPlan {
  readonly store: { readonly name: string; readonly kind: 'SecretStore' | 'ClusterSecretStore' }
  /** Secret keys and their remote references, sorted by key. */
  readonly data: readonly {
    readonly secretKey: string
    readonly remote: { readonly key: string; readonly property: string }
  }[]
}

/** A key of a Secret that has to exist in the cluster. */
export interface RequiredSecret {
  readonly secret: string
  readonly key: string
  /** Path of the value that uses the key, such as `services.db.environment.POSTGRES_PASSWORD` or `secrets.token`. */
  readonly usedBy: string
  /** The position in the manifest that requires the key. Absent if the Compose files require it. */
  readonly span?: Span
}

export interface NetworkPolicyPlan extends ObjectPlan {
  /** Labels of the Pods that the policy applies to. If empty, it applies to all Pods of the environment. */
  readonly podLabels: Readonly<Record<string, string>>
  /**
   * The peers that may connect to the Pods. If undefined, ingress is not restricted; an empty list denies all ingress.
   */
  readonly ingress?: readonly PolicyPeerRule[]
  readonly egress?: readonly PolicyPeerRule[]
}

export interface PolicyPeerRule {
  /** Labels of the peer Pods. If absent, any address is allowed. */
  readonly podLabels?: Readonly<Record<string, string>>
  /** True if the peer is the cluster's DNS, in whatever namespace it runs. */
  readonly dns?: boolean
  readonly ports?: readonly { readonly port: number; readonly protocol: 'TCP' | 'UDP' | 'SCTP' }[]
}
