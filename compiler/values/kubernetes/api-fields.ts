// Generated from the OpenAPI schemas of Kubernetes: npx vitest run test/api/cluster/api-fields.test.ts -u
/**
 * Types of the Kubernetes API, one a line: the name, and the fields with their types. `!` marks a required field,
 * `{T}` a map and `[T]` a list. A strategic merge pairs the items of `[T]KEY` by the field KEY, and unites the
 * items of `[T]*`.
 */
export const API_FIELDS = `
AWSElasticBlockStoreVolumeSource fsType:string partition:int32 readOnly:boolean volumeID!:string
Affinity nodeAffinity:NodeAffinity podAffinity:PodAffinity podAntiAffinity:PodAntiAffinity
AppArmorProfile localhostProfile:string type!:"Localhost"|"RuntimeDefault"|"Unconfined"
AzureDiskVolumeSource cachingMode:"None"|"ReadOnly"|"ReadWrite" diskName!:string diskURI!:string fsType:string kind:"Dedicated"|"Managed"|"Shared" readOnly:boolean
AzureFileVolumeSource readOnly:boolean secretName!:string shareName!:string
CSIVolumeSource driver!:string fsType:string nodePublishSecretRef:LocalObjectReference readOnly:boolean volumeAttributes:{string}
Capabilities add:[string] drop:[string]
CephFSVolumeSource monitors!:[string] path:string readOnly:boolean secretFile:string secretRef:LocalObjectReference user:string
CinderVolumeSource fsType:string readOnly:boolean secretRef:LocalObjectReference volumeID!:string
ClientIPConfig timeoutSeconds:int32
ClusterTrustBundleProjection labelSelector:LabelSelector name:string optional:boolean path!:string signerName:string
ConfigMap apiVersion:string binaryData:{string} data:{string} immutable:boolean kind:string metadata:ObjectMeta
ConfigMapEnvSource name:string optional:boolean
ConfigMapKeySelector key!:string name:string optional:boolean
ConfigMapProjection items:[KeyToPath] name:string optional:boolean
ConfigMapVolumeSource defaultMode:int32 items:[KeyToPath] name:string optional:boolean
Container args:[string] command:[string] env:[EnvVar]name envFrom:[EnvFromSource] image:string imagePullPolicy:"Always"|"IfNotPresent"|"Never" lifecycle:Lifecycle livenessProbe:Probe name!:string ports:[ContainerPort]containerPort readinessProbe:Probe resizePolicy:[ContainerResizePolicy] resources:ResourceRequirements restartPolicy:string restartPolicyRules:[ContainerRestartRule] securityContext:SecurityContext startupProbe:Probe stdin:boolean stdinOnce:boolean terminationMessagePath:string terminationMessagePolicy:"FallbackToLogsOnError"|"File" tty:boolean volumeDevices:[VolumeDevice]devicePath volumeMounts:[VolumeMount]mountPath workingDir:string
ContainerPort containerPort!:int32 hostIP:string hostPort:int32 name:string protocol:"SCTP"|"TCP"|"UDP"
ContainerResizePolicy resourceName!:string restartPolicy!:string
ContainerResourceMetricSource container!:string name!:string target!:MetricTarget
ContainerRestartRule action!:string exitCodes:ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator!:string values:[int32]
CronJob apiVersion:string kind:string metadata:ObjectMeta spec:CronJobSpec
CronJobSpec concurrencyPolicy:"Allow"|"Forbid"|"Replace" failedJobsHistoryLimit:int32 jobTemplate!:JobTemplateSpec schedule!:string startingDeadlineSeconds:int64 successfulJobsHistoryLimit:int32 suspend:boolean timeZone:string
CrossVersionObjectReference apiVersion:string kind!:string name!:string
DaemonSetSpec minReadySeconds:int32 revisionHistoryLimit:int32 selector!:LabelSelector template!:PodTemplateSpec updateStrategy:DaemonSetUpdateStrategy
DaemonSetUpdateStrategy rollingUpdate:RollingUpdateDaemonSet type:"OnDelete"|"RollingUpdate"
DeploymentSpec minReadySeconds:int32 paused:boolean progressDeadlineSeconds:int32 replicas:int32 revisionHistoryLimit:int32 selector!:LabelSelector strategy:DeploymentStrategy template!:PodTemplateSpec
DeploymentStrategy rollingUpdate:RollingUpdateDeployment type:"Recreate"|"RollingUpdate"
DownwardAPIProjection items:[DownwardAPIVolumeFile]
DownwardAPIVolumeFile fieldRef:ObjectFieldSelector mode:int32 path!:string resourceFieldRef:ResourceFieldSelector
DownwardAPIVolumeSource defaultMode:int32 items:[DownwardAPIVolumeFile]
EmptyDirVolumeSource medium:string sizeLimit:quantity
EnvFromSource configMapRef:ConfigMapEnvSource prefix:string secretRef:SecretEnvSource
EnvVar name!:string value:string valueFrom:EnvVarSource
EnvVarSource configMapKeyRef:ConfigMapKeySelector fieldRef:ObjectFieldSelector fileKeyRef:FileKeySelector resourceFieldRef:ResourceFieldSelector secretKeyRef:SecretKeySelector
EphemeralContainer args:[string] command:[string] env:[EnvVar]name envFrom:[EnvFromSource] image:string imagePullPolicy:"Always"|"IfNotPresent"|"Never" lifecycle:Lifecycle livenessProbe:Probe name!:string ports:[ContainerPort]containerPort readinessProbe:Probe resizePolicy:[ContainerResizePolicy] resources:ResourceRequirements restartPolicy:string restartPolicyRules:[ContainerRestartRule] securityContext:SecurityContext startupProbe:Probe stdin:boolean stdinOnce:boolean targetContainerName:string terminationMessagePath:string terminationMessagePolicy:"FallbackToLogsOnError"|"File" tty:boolean volumeDevices:[VolumeDevice]devicePath volumeMounts:[VolumeMount]mountPath workingDir:string
EphemeralVolumeSource volumeClaimTemplate:PersistentVolumeClaimTemplate
ExecAction command:[string]
ExternalMetricSource metric!:MetricIdentifier target!:MetricTarget
FCVolumeSource fsType:string lun:int32 readOnly:boolean targetWWNs:[string] wwids:[string]
FileKeySelector key!:string optional:boolean path!:string volumeName!:string
FlexVolumeSource driver!:string fsType:string options:{string} readOnly:boolean secretRef:LocalObjectReference
FlockerVolumeSource datasetName:string datasetUUID:string
GCEPersistentDiskVolumeSource fsType:string partition:int32 pdName!:string readOnly:boolean
GRPCAction port!:int32 service:string
GitRepoVolumeSource directory:string repository!:string revision:string
GlusterfsVolumeSource endpoints!:string path!:string readOnly:boolean
HPAScalingPolicy periodSeconds!:int32 type!:string value!:int32
HPAScalingRules policies:[HPAScalingPolicy] selectPolicy:string stabilizationWindowSeconds:int32 tolerance:quantity
HTTPGetAction host:string httpHeaders:[HTTPHeader] path:string port!:intOrString scheme:"HTTP"|"HTTPS"
HTTPHeader name!:string value!:string
HTTPIngressPath backend!:IngressBackend path:string pathType!:"Exact"|"ImplementationSpecific"|"Prefix"
HTTPIngressRuleValue paths!:[HTTPIngressPath]
HorizontalPodAutoscaler apiVersion:string kind:string metadata:ObjectMeta spec:HorizontalPodAutoscalerSpec
HorizontalPodAutoscalerBehavior scaleDown:HPAScalingRules scaleUp:HPAScalingRules
HorizontalPodAutoscalerSpec behavior:HorizontalPodAutoscalerBehavior maxReplicas!:int32 metrics:[MetricSpec] minReplicas:int32 scaleTargetRef!:CrossVersionObjectReference
HostAlias hostnames:[string] ip!:string
HostPathVolumeSource path!:string type:""|"BlockDevice"|"CharDevice"|"Directory"|"DirectoryOrCreate"|"File"|"FileOrCreate"|"Socket"
IPBlock cidr!:string except:[string]
ISCSIVolumeSource chapAuthDiscovery:boolean chapAuthSession:boolean fsType:string initiatorName:string iqn!:string iscsiInterface:string lun!:int32 portals:[string] readOnly:boolean secretRef:LocalObjectReference targetPortal!:string
ImageVolumeSource pullPolicy:"Always"|"IfNotPresent"|"Never" reference:string
Ingress apiVersion:string kind:string metadata:ObjectMeta spec:IngressSpec
IngressBackend resource:TypedLocalObjectReference service:IngressServiceBackend
IngressRule host:string http:HTTPIngressRuleValue
IngressServiceBackend name!:string port:ServiceBackendPort
IngressSpec defaultBackend:IngressBackend ingressClassName:string rules:[IngressRule] tls:[IngressTLS]
IngressTLS hosts:[string] secretName:string
JobSpec activeDeadlineSeconds:int64 backoffLimit:int32 backoffLimitPerIndex:int32 completionMode:"Indexed"|"NonIndexed" completions:int32 managedBy:string manualSelector:boolean maxFailedIndexes:int32 parallelism:int32 podFailurePolicy:PodFailurePolicy podReplacementPolicy:"Failed"|"TerminatingOrFailed" selector:LabelSelector successPolicy:SuccessPolicy suspend:boolean template!:PodTemplateSpec ttlSecondsAfterFinished:int32
JobTemplateSpec metadata:ObjectMeta spec:JobSpec
KeyToPath key!:string mode:int32 path!:string
LabelSelector matchExpressions:[LabelSelectorRequirement] matchLabels:{string}
LabelSelectorRequirement key!:string operator!:string values:[string]
Lifecycle postStart:LifecycleHandler preStop:LifecycleHandler stopSignal:"SIGABRT"|"SIGALRM"|"SIGBUS"|"SIGCHLD"|"SIGCLD"|"SIGCONT"|"SIGFPE"|"SIGHUP"|"SIGILL"|"SIGINT"|"SIGIO"|"SIGIOT"|"SIGKILL"|"SIGPIPE"|"SIGPOLL"|"SIGPROF"|"SIGPWR"|"SIGQUIT"|"SIGRTMAX"|"SIGRTMAX-1"|"SIGRTMAX-10"|"SIGRTMAX-11"|"SIGRTMAX-12"|"SIGRTMAX-13"|"SIGRTMAX-14"|"SIGRTMAX-2"|"SIGRTMAX-3"|"SIGRTMAX-4"|"SIGRTMAX-5"|"SIGRTMAX-6"|"SIGRTMAX-7"|"SIGRTMAX-8"|"SIGRTMAX-9"|"SIGRTMIN"|"SIGRTMIN+1"|"SIGRTMIN+10"|"SIGRTMIN+11"|"SIGRTMIN+12"|"SIGRTMIN+13"|"SIGRTMIN+14"|"SIGRTMIN+15"|"SIGRTMIN+2"|"SIGRTMIN+3"|"SIGRTMIN+4"|"SIGRTMIN+5"|"SIGRTMIN+6"|"SIGRTMIN+7"|"SIGRTMIN+8"|"SIGRTMIN+9"|"SIGSEGV"|"SIGSTKFLT"|"SIGSTOP"|"SIGSYS"|"SIGTERM"|"SIGTRAP"|"SIGTSTP"|"SIGTTIN"|"SIGTTOU"|"SIGURG"|"SIGUSR1"|"SIGUSR2"|"SIGVTALRM"|"SIGWINCH"|"SIGXCPU"|"SIGXFSZ"
LifecycleHandler exec:ExecAction httpGet:HTTPGetAction sleep:SleepAction tcpSocket:TCPSocketAction
LimitRange apiVersion:string kind:string metadata:ObjectMeta spec:LimitRangeSpec
LimitRangeItem default:{quantity} defaultRequest:{quantity} max:{quantity} maxLimitRequestRatio:{quantity} min:{quantity} type!:string
LimitRangeSpec limits!:[LimitRangeItem]
LocalObjectReference name:string
MetricIdentifier name!:string selector:LabelSelector
MetricSpec containerResource:ContainerResourceMetricSource external:ExternalMetricSource object:ObjectMetricSource pods:PodsMetricSource resource:ResourceMetricSource type!:string
MetricTarget averageUtilization:int32 averageValue:quantity type!:string value:quantity
NFSVolumeSource path!:string readOnly:boolean server!:string
NetworkPolicy apiVersion:string kind:string metadata:ObjectMeta spec:NetworkPolicySpec
NetworkPolicyEgressRule ports:[NetworkPolicyPort] to:[NetworkPolicyPeer]
NetworkPolicyIngressRule from:[NetworkPolicyPeer] ports:[NetworkPolicyPort]
NetworkPolicyPeer ipBlock:IPBlock namespaceSelector:LabelSelector podSelector:LabelSelector
NetworkPolicyPort endPort:int32 port:intOrString protocol:"SCTP"|"TCP"|"UDP"
NetworkPolicySpec egress:[NetworkPolicyEgressRule] ingress:[NetworkPolicyIngressRule] podSelector:LabelSelector policyTypes:["Egress"|"Ingress"]
NodeAffinity preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm] requiredDuringSchedulingIgnoredDuringExecution:NodeSelector
NodeSelector nodeSelectorTerms!:[NodeSelectorTerm]
NodeSelectorRequirement key!:string operator!:"DoesNotExist"|"Exists"|"Gt"|"In"|"Lt"|"NotIn" values:[string]
NodeSelectorTerm matchExpressions:[NodeSelectorRequirement] matchFields:[NodeSelectorRequirement]
ObjectFieldSelector apiVersion:string fieldPath!:string
ObjectMeta annotations:{string} deletionGracePeriodSeconds:int64 finalizers:[string]* generateName:string generation:int64 labels:{string} name:string namespace:string resourceVersion:string selfLink:string uid:string
ObjectMetricSource describedObject!:CrossVersionObjectReference metric!:MetricIdentifier target!:MetricTarget
ObjectReference apiVersion:string fieldPath:string kind:string name:string namespace:string resourceVersion:string uid:string
PersistentVolumeClaim apiVersion:string kind:string metadata:ObjectMeta spec:PersistentVolumeClaimSpec
PersistentVolumeClaimSpec accessModes:["ReadOnlyMany"|"ReadWriteMany"|"ReadWriteOnce"|"ReadWriteOncePod"] dataSource:TypedLocalObjectReference dataSourceRef:TypedObjectReference resources:VolumeResourceRequirements selector:LabelSelector storageClassName:string volumeAttributesClassName:string volumeMode:"Block"|"Filesystem" volumeName:string
PersistentVolumeClaimTemplate metadata:ObjectMeta spec!:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName!:string readOnly:boolean
PhotonPersistentDiskVolumeSource fsType:string pdID!:string
PodAffinity preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm] requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
PodAffinityTerm labelSelector:LabelSelector matchLabelKeys:[string] mismatchLabelKeys:[string] namespaceSelector:LabelSelector namespaces:[string] topologyKey!:string
PodAntiAffinity preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm] requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
PodCertificateProjection certificateChainPath:string credentialBundlePath:string keyPath:string keyType!:string maxExpirationSeconds:int32 signerName!:string
PodDNSConfig nameservers:[string] options:[PodDNSConfigOption] searches:[string]
PodDNSConfigOption name:string value:string
PodDisruptionBudget apiVersion:string kind:string metadata:ObjectMeta spec:PodDisruptionBudgetSpec
PodDisruptionBudgetSpec maxUnavailable:intOrString minAvailable:intOrString selector:LabelSelector unhealthyPodEvictionPolicy:"AlwaysAllow"|"IfHealthyBudget"
PodFailurePolicy rules!:[PodFailurePolicyRule]
PodFailurePolicyOnExitCodesRequirement containerName:string operator!:"In"|"NotIn" values!:[int32]
PodFailurePolicyOnPodConditionsPattern type!:string
PodFailurePolicyRule action!:"Count"|"FailIndex"|"FailJob"|"Ignore" onExitCodes:PodFailurePolicyOnExitCodesRequirement onPodConditions:[PodFailurePolicyOnPodConditionsPattern]
PodOS name!:string
PodReadinessGate conditionType!:string
PodResourceClaim name!:string resourceClaimName:string resourceClaimTemplateName:string
PodSchedulingGate name!:string
PodSecurityContext appArmorProfile:AppArmorProfile fsGroup:int64 fsGroupChangePolicy:"Always"|"OnRootMismatch" runAsGroup:int64 runAsNonRoot:boolean runAsUser:int64 seLinuxChangePolicy:string seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile supplementalGroups:[int64] supplementalGroupsPolicy:"Merge"|"Strict" sysctls:[Sysctl] windowsOptions:WindowsSecurityContextOptions
PodSpec activeDeadlineSeconds:int64 affinity:Affinity automountServiceAccountToken:boolean containers!:[Container]name dnsConfig:PodDNSConfig dnsPolicy:"ClusterFirst"|"ClusterFirstWithHostNet"|"Default"|"None" enableServiceLinks:boolean ephemeralContainers:[EphemeralContainer]name hostAliases:[HostAlias]ip hostIPC:boolean hostNetwork:boolean hostPID:boolean hostUsers:boolean hostname:string hostnameOverride:string imagePullSecrets:[LocalObjectReference]name initContainers:[Container]name nodeName:string nodeSelector:{string} os:PodOS overhead:{quantity} preemptionPolicy:"Never"|"PreemptLowerPriority" priority:int32 priorityClassName:string readinessGates:[PodReadinessGate] resourceClaims:[PodResourceClaim]name resources:ResourceRequirements restartPolicy:"Always"|"Never"|"OnFailure" runtimeClassName:string schedulerName:string schedulingGates:[PodSchedulingGate]name securityContext:PodSecurityContext serviceAccount:string serviceAccountName:string setHostnameAsFQDN:boolean shareProcessNamespace:boolean subdomain:string terminationGracePeriodSeconds:int64 tolerations:[Toleration] topologySpreadConstraints:[TopologySpreadConstraint]topologyKey volumes:[Volume]name
PodTemplateSpec metadata:ObjectMeta spec:PodSpec
PodsMetricSource metric!:MetricIdentifier target!:MetricTarget
PolicyRule apiGroups:[string] nonResourceURLs:[string] resourceNames:[string] resources:[string] verbs!:[string]
PortworxVolumeSource fsType:string readOnly:boolean volumeID!:string
PreferredSchedulingTerm preference!:NodeSelectorTerm weight!:int32
Probe exec:ExecAction failureThreshold:int32 grpc:GRPCAction httpGet:HTTPGetAction initialDelaySeconds:int32 periodSeconds:int32 successThreshold:int32 tcpSocket:TCPSocketAction terminationGracePeriodSeconds:int64 timeoutSeconds:int32
ProjectedVolumeSource defaultMode:int32 sources:[VolumeProjection]
QuobyteVolumeSource group:string readOnly:boolean registry!:string tenant:string user:string volume!:string
RBDVolumeSource fsType:string image!:string keyring:string monitors!:[string] pool:string readOnly:boolean secretRef:LocalObjectReference user:string
ResourceClaim name!:string request:string
ResourceFieldSelector containerName:string divisor:quantity resource!:string
ResourceMetricSource name!:string target!:MetricTarget
ResourceQuota apiVersion:string kind:string metadata:ObjectMeta spec:ResourceQuotaSpec
ResourceQuotaSpec hard:{quantity} scopeSelector:ScopeSelector scopes:["BestEffort"|"CrossNamespacePodAffinity"|"NotBestEffort"|"NotTerminating"|"PriorityClass"|"Terminating"|"VolumeAttributesClass"]
ResourceRequirements claims:[ResourceClaim] limits:{quantity} requests:{quantity}
Role apiVersion:string kind:string metadata:ObjectMeta rules:[PolicyRule]
RoleBinding apiVersion:string kind:string metadata:ObjectMeta roleRef!:RoleRef subjects:[Subject]
RoleRef apiGroup!:string kind!:string name!:string
RollingUpdateDaemonSet maxSurge:intOrString maxUnavailable:intOrString
RollingUpdateDeployment maxSurge:intOrString maxUnavailable:intOrString
RollingUpdateStatefulSetStrategy maxUnavailable:intOrString partition:int32
SELinuxOptions level:string role:string type:string user:string
ScaleIOVolumeSource fsType:string gateway!:string protectionDomain:string readOnly:boolean secretRef!:LocalObjectReference sslEnabled:boolean storageMode:string storagePool:string system!:string volumeName:string
ScopeSelector matchExpressions:[ScopedResourceSelectorRequirement]
ScopedResourceSelectorRequirement operator!:"DoesNotExist"|"Exists"|"In"|"NotIn" scopeName!:"BestEffort"|"CrossNamespacePodAffinity"|"NotBestEffort"|"NotTerminating"|"PriorityClass"|"Terminating"|"VolumeAttributesClass" values:[string]
SeccompProfile localhostProfile:string type!:"Localhost"|"RuntimeDefault"|"Unconfined"
SecretEnvSource name:string optional:boolean
SecretKeySelector key!:string name:string optional:boolean
SecretProjection items:[KeyToPath] name:string optional:boolean
SecretVolumeSource defaultMode:int32 items:[KeyToPath] optional:boolean secretName:string
SecurityContext allowPrivilegeEscalation:boolean appArmorProfile:AppArmorProfile capabilities:Capabilities privileged:boolean procMount:"Default"|"Unmasked" readOnlyRootFilesystem:boolean runAsGroup:int64 runAsNonRoot:boolean runAsUser:int64 seLinuxOptions:SELinuxOptions seccompProfile:SeccompProfile windowsOptions:WindowsSecurityContextOptions
Service apiVersion:string kind:string metadata:ObjectMeta spec:ServiceSpec
ServiceAccount apiVersion:string automountServiceAccountToken:boolean imagePullSecrets:[LocalObjectReference] kind:string metadata:ObjectMeta secrets:[ObjectReference]name
ServiceAccountTokenProjection audience:string expirationSeconds:int64 path!:string
ServiceBackendPort name:string number:int32
ServicePort appProtocol:string name:string nodePort:int32 port!:int32 protocol:"SCTP"|"TCP"|"UDP" targetPort:intOrString
ServiceSpec allocateLoadBalancerNodePorts:boolean clusterIP:string clusterIPs:[string] externalIPs:[string] externalName:string externalTrafficPolicy:"Cluster"|"Local" healthCheckNodePort:int32 internalTrafficPolicy:"Cluster"|"Local" ipFamilies:[""|"IPv4"|"IPv6"] ipFamilyPolicy:"PreferDualStack"|"RequireDualStack"|"SingleStack" loadBalancerClass:string loadBalancerIP:string loadBalancerSourceRanges:[string] ports:[ServicePort]port publishNotReadyAddresses:boolean selector:{string} sessionAffinity:"ClientIP"|"None" sessionAffinityConfig:SessionAffinityConfig trafficDistribution:string type:"ClusterIP"|"ExternalName"|"LoadBalancer"|"NodePort"
SessionAffinityConfig clientIP:ClientIPConfig
SleepAction seconds!:int64
StatefulSetOrdinals start:int32
StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted:string whenScaled:string
StatefulSetSpec minReadySeconds:int32 ordinals:StatefulSetOrdinals persistentVolumeClaimRetentionPolicy:StatefulSetPersistentVolumeClaimRetentionPolicy podManagementPolicy:"OrderedReady"|"Parallel" replicas:int32 revisionHistoryLimit:int32 selector!:LabelSelector serviceName:string template!:PodTemplateSpec updateStrategy:StatefulSetUpdateStrategy volumeClaimTemplates:[PersistentVolumeClaim]
StatefulSetUpdateStrategy rollingUpdate:RollingUpdateStatefulSetStrategy type:"OnDelete"|"RollingUpdate"
StorageOSVolumeSource fsType:string readOnly:boolean secretRef:LocalObjectReference volumeName:string volumeNamespace:string
Subject apiGroup:string kind!:string name!:string namespace:string
SuccessPolicy rules!:[SuccessPolicyRule]
SuccessPolicyRule succeededCount:int32 succeededIndexes:string
Sysctl name!:string value!:string
TCPSocketAction host:string port!:intOrString
Toleration effect:"NoExecute"|"NoSchedule"|"PreferNoSchedule" key:string operator:"Equal"|"Exists" tolerationSeconds:int64 value:string
TopologySpreadConstraint labelSelector:LabelSelector matchLabelKeys:[string] maxSkew!:int32 minDomains:int32 nodeAffinityPolicy:"Honor"|"Ignore" nodeTaintsPolicy:"Honor"|"Ignore" topologyKey!:string whenUnsatisfiable!:"DoNotSchedule"|"ScheduleAnyway"
TypedLocalObjectReference apiGroup:string kind!:string name!:string
TypedObjectReference apiGroup:string kind!:string name!:string namespace:string
Volume awsElasticBlockStore:AWSElasticBlockStoreVolumeSource azureDisk:AzureDiskVolumeSource azureFile:AzureFileVolumeSource cephfs:CephFSVolumeSource cinder:CinderVolumeSource configMap:ConfigMapVolumeSource csi:CSIVolumeSource downwardAPI:DownwardAPIVolumeSource emptyDir:EmptyDirVolumeSource ephemeral:EphemeralVolumeSource fc:FCVolumeSource flexVolume:FlexVolumeSource flocker:FlockerVolumeSource gcePersistentDisk:GCEPersistentDiskVolumeSource gitRepo:GitRepoVolumeSource glusterfs:GlusterfsVolumeSource hostPath:HostPathVolumeSource image:ImageVolumeSource iscsi:ISCSIVolumeSource name!:string nfs:NFSVolumeSource persistentVolumeClaim:PersistentVolumeClaimVolumeSource photonPersistentDisk:PhotonPersistentDiskVolumeSource portworxVolume:PortworxVolumeSource projected:ProjectedVolumeSource quobyte:QuobyteVolumeSource rbd:RBDVolumeSource scaleIO:ScaleIOVolumeSource secret:SecretVolumeSource storageos:StorageOSVolumeSource vsphereVolume:VsphereVirtualDiskVolumeSource
VolumeDevice devicePath!:string name!:string
VolumeMount mountPath!:string mountPropagation:"Bidirectional"|"HostToContainer"|"None" name!:string readOnly:boolean recursiveReadOnly:string subPath:string subPathExpr:string
VolumeProjection clusterTrustBundle:ClusterTrustBundleProjection configMap:ConfigMapProjection downwardAPI:DownwardAPIProjection podCertificate:PodCertificateProjection secret:SecretProjection serviceAccountToken:ServiceAccountTokenProjection
VolumeResourceRequirements limits:{quantity} requests:{quantity}
VsphereVirtualDiskVolumeSource fsType:string storagePolicyID:string storagePolicyName:string volumePath!:string
WeightedPodAffinityTerm podAffinityTerm!:PodAffinityTerm weight!:int32
WindowsSecurityContextOptions gmsaCredentialSpec:string gmsaCredentialSpecName:string hostProcess:boolean runAsUserName:string
`
