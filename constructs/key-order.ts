/**
 * Readable orders of the keys of Kubernetes objects. An entry applies, at any depth, to a map under the entry's key and
 * to the maps in a list under this key; the entry `''` applies to all other maps. A key that is not listed comes after
 * the last listed key with a simple value if its own value is simple, and at the end if its value is a map or a list.
 * The tables are plain text, because that is easier to read and to edit.
 */
const readingOrders: Readonly<Record<string, string>> = {
  spec: `
    schedule timeZone suspend concurrencyPolicy startingDeadlineSeconds successfulJobsHistoryLimit failedJobsHistoryLimit jobTemplate
    scaleTargetRef minReplicas maxReplicas metrics type externalName serviceName replicas backoffLimit completions parallelism minReadySeconds progressDeadlineSeconds
    strategy updateStrategy podSelector policyTypes selector clusterIP publishNotReadyAddresses template volumeClaimTemplates
    nodeSelector affinity tolerations topologySpreadConstraints priorityClassName automountServiceAccountToken enableServiceLinks
    hostname subdomain hostNetwork hostPID hostIPC hostUsers shareProcessNamespace dnsPolicy dnsConfig hostAliases runtimeClassName
    securityContext serviceAccountName terminationGracePeriodSeconds restartPolicy initContainers containers volumes imagePullSecrets
    accessModes volumeMode storageClassName resources dataSource dataSourceRef
    secretStoreRef target data
    ingressClassName parentRefs hostnames rules tls ingress egress ports
    loadBalancerClass loadBalancerSourceRanges`,
  containers: `
    name image imagePullPolicy restartPolicy command args workingDir env ports
    startupProbe readinessProbe livenessProbe lifecycle resources securityContext stdin tty volumeMounts`,
  probe: 'exec httpGet tcpSocket initialDelaySeconds periodSeconds timeoutSeconds failureThreshold',
  securityContext: `
    runAsUser runAsGroup runAsNonRoot fsGroup supplementalGroups privileged allowPrivilegeEscalation readOnlyRootFilesystem
    capabilities seccompProfile appArmorProfile seLinuxOptions procMount sysctls`,
  '': `
    apiVersion apiGroup apiGroups group kind namespace name key type metadata labels annotations
    maxSkew topologyKey whenUnsatisfiable labelSelector matchLabels
    host path pathType ip hostnames nameservers searches options from to
    mountPath subPath claimName secretName defaultMode mode items readOnly
    resource resources resourceNames verbs requests limits
    add automountServiceAccountToken backend backendRefs binaryData configMap csi data drop emptyDir ephemeral fieldRef
    hostPath hosts http image imagePullSecrets level localhostProfile matchExpressions matchFields matches maxSurge maxUnavailable
    medium mountPropagation nfs nodeAffinity operator persistentVolumeClaim podAffinity podAntiAffinity port ports
    postStart preStop projected pullPolicy recursiveReadOnly reference remoteRef role roleRef rollingUpdate rules secret server
    sizeLimit spec subjects target user value valueFrom values weight`,
  metadata: 'name namespace labels annotations',
  remoteRef: 'key property conversionStrategy decodingStrategy metadataPolicy',
  ports: 'name containerPort port targetPort protocol appProtocol hostPort nodePort',
}

/**
 * Names of maps with keys that the user chooses. Such keys are sorted alphabetically, wherever the map is. `selector`
 * is listed because of Services; the fixed keys in a workload's `selector` are sorted alphabetically, too.
 */
const freeMaps = new Set([
  'labels',
  'annotations',
  'matchLabels',
  'nodeSelector',
  'selector',
  'requests',
  'limits',
  'data',
  'binaryData',
])

/**
 * Returns the key that determines the order in the maps of a list: the key of the list, or an empty text if this key is
 * in `freeMaps`. Maps in such a list have fields instead of free keys, as in `data` of an ExternalSecret.
 */
export const orderOfItems = (under: string): string => (freeMaps.has(under) ? '' : under)

const places = new Map(Object.entries(readingOrders).map(([under, text]) => [under, placesOf(text)]))
const synonyms: Readonly<Record<string, string>> = {
  initContainers: 'containers',
  startupProbe: 'probe',
  readinessProbe: 'probe',
  livenessProbe: 'probe',
}

/** Returns a value with the keys of all its maps in reading order. Accepts plain JSON, and omits undefined values. */
export function inReadingOrder(value: unknown, under = ''): unknown {
  if (Array.isArray(value)) return value.map(item => inReadingOrder(item, orderOfItems(under)))
  if (typeof value !== 'object' || value === null) return value
  const map = value as Readonly<Record<string, unknown>> // JSON has no other objects
  const ordered: Record<string, unknown> = {}
  for (const key of orderedKeys(map, under)) {
    if (map[key] !== undefined) ordered[key] = inReadingOrder(map[key], key)
  }
  return ordered
}

/**
 * Returns the keys of a map that `readingOrders` does not list and whose values are maps or lists; such keys are
 * printed last. `under` is the key under which the map itself is stored.
 */
export function keysWithoutPlace(map: Readonly<Record<string, unknown>>, under: string): readonly string[] {
  if (freeMaps.has(under)) return []
  const place = placesUnder(under)
  return Object.keys(map).filter(key => !place.has(key) && !isSimple(map[key]))
}

const isSimple = (value: unknown): boolean => typeof value !== 'object' || value === null

const placesUnder = (under: string) => places.get(synonyms[under] ?? under) ?? places.get('')!

function orderedKeys(map: Readonly<Record<string, unknown>>, under: string): string[] {
  const keys = Object.keys(map)
  if (keys.length < 2) return keys
  if (freeMaps.has(under)) return keys.sort(alphabetically)
  const place = placesUnder(under)
  if (keys.every(key => place.has(key))) return sortByPlace(keys, place)
  const lastSimple = Math.max(-1, ...keys.filter(key => isSimple(map[key])).map(key => place.get(key) ?? -1))
  const rank = (key: string) => place.get(key) ?? (isSimple(map[key]) ? lastSimple + 0.5 : place.size)
  return keys.sort((a, b) => rank(a) - rank(b) || alphabetically(a, b))
}

/**
 * Sorts the array `keys` itself, by the numbers in `place`. For so few keys, an insertion sort is faster than `sort`,
 * which also allocates a copy for each map.
 */
function sortByPlace(keys: string[], place: ReadonlyMap<string, number>): string[] {
  for (let sorted = 1; sorted < keys.length; sorted++) {
    const key = keys[sorted]!
    let at = sorted
    for (; at > 0 && place.get(keys[at - 1]!)! > place.get(key)!; at--) keys[at] = keys[at - 1]!
    keys[at] = key
  }
  return keys
}

function placesOf(text: string): ReadonlyMap<string, number> {
  const keys = text.trim().split(/\s+/)
  return new Map(keys.map((key, index) => [key, index]))
}

function alphabetically(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
