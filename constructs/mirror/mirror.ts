import { sessionData, sessionHash } from './agent.ts'
import { type Detached, detach } from './detach.ts'
import { compact, type Json, listIn, mapIn } from './json.ts'
import { claimName, mirrorName, SYNC_VOLUME, sessionSecretName, USER_ANNOTATION } from './names.ts'
import { besidePod, chosenContainer, developPod, volumeLabel } from './pod.ts'
import type { LiveObject, MirrorFacts, MirrorObject, MirrorObjects, MirrorSettings, User } from './settings.ts'
import { variablesApart } from './variables.ts'
import { developmentLabels, mirrorWorkload, overlaid, ownerReferences } from './workload.ts'

/**
 * Returns the objects that replace an application during development, built from the live object and the changes in the
 * settings. Without an application, returns a stand-alone container and its Service.
 */
export function mirror(original: LiveObject | undefined, settings: MirrorSettings, facts: MirrorFacts): MirrorObjects {
  const name = original?.metadata.name ?? settings.name
  const secret = sessionSecretName(mirrorName(name))
  const detached = original ? detach(original, settings) : standAlone(settings)
  const keeps = settings.mode === 'sync' && settings.volume.enabled
  const sync = syncVolume(settings, keeps && facts.canClaim)
  const own = original?.kind === 'StatefulSet' ? firstClaims(original, facts) : []
  const [ours, ...besides] = [settings, ...settings.services].map((one, index) => variablesApart(secret, one, index))
  const spec = developPod(detached, settings, facts, { sync, secret, own, env: ours!.env })
  const labels = settings.services.length > 0 ? { [volumeLabel(settings.name)]: 'true' } : {}
  const placed = original?.kind === 'StatefulSet' ? { ...firstPod(original), ...spec } : spec
  return {
    secret: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {
        name: secret,
        namespace: facts.namespace,
        labels: developmentLabels(settings, original),
        ...ownerReferences(original),
      },
      type: 'Opaque',
      data: Object.assign(sessionData(facts), ...[ours!, ...besides].map(({ data }) => data)),
    },
    ...('persistentVolumeClaim' in sync && { claim: claim(original, settings, facts) }),
    workload: mirrorWorkload(original, settings, facts, {
      detached,
      container: settings,
      spec: placed,
      replicas: 1,
      session: sessionHash(facts, ours!.hash),
      main: String(chosenContainer(detached.spec, settings)['name']),
      labels,
      annotations: facts.user ? { [USER_ANNOTATION]: userText(imageOf(detached, settings), facts.user) } : {},
    }),
    services: facts.services.map((live, index) => {
      const service = settings.services[index]!
      const template = detach(live, service)
      return mirrorWorkload(live, settings, facts, {
        detached: template,
        container: service,
        spec: besidePod(template, service, settings, facts, { sync, env: besides[index]!.env }),
        session: besides[index]!.hash,
        replicas: service.replicas ?? replicasOf(live),
        labels,
      })
    }),
    ...(original === undefined && { service: standAloneService(settings, facts) }),
    notes:
      keeps && !facts.canClaim
        ? [`the cluster has no default storage class: the files of \`${settings.name}\` are lost with its Pod`]
        : [],
  }
}

/** Returns the image of the development container: from the settings, or else from the application's container. */
export const imageOf = ({ spec }: Detached, settings: MirrorSettings): string =>
  settings.image ?? String(chosenContainer(spec, settings)['image'])

const userText = (image: string, { uid, gid }: User): string => `${image} ${uid}${gid === undefined ? '' : `:${gid}`}`

/** Returns the user of an image, as recorded in the mirror of an earlier session; undefined if it is not recorded. */
export function knownUser(mirrored: LiveObject | undefined, image: string): User | undefined {
  const [known, user = ''] = (mirrored?.metadata.annotations?.[USER_ANNOTATION] ?? '').split(' ')
  const [, uid, gid] = /^(\d+)(?::(\d+))?$/.exec(user) ?? []
  if (known !== image || uid === undefined) return undefined
  return { uid: Number(uid), ...(gid !== undefined && { gid: Number(gid) }) }
}

const replicasOf = (live: LiveObject): number => (mapIn(live, 'spec')['replicas'] as number | undefined) ?? 1 // a workload's

function syncVolume({ name }: MirrorSettings, claims: boolean): Json & { readonly name: string } {
  return claims
    ? { name: SYNC_VOLUME, persistentVolumeClaim: { claimName: claimName(name) } }
    : { name: SYNC_VOLUME, emptyDir: {} }
}

function claim(original: LiveObject | undefined, settings: MirrorSettings, facts: MirrorFacts): MirrorObject {
  const { volume } = settings
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(settings.name),
      namespace: facts.namespace,
      labels: { ...volume.labels, ...developmentLabels(settings, original) },
      ...compact({ annotations: volume.annotations }),
    },
    spec: {
      accessModes: [volume.accessMode],
      ...(volume.volumeMode !== 'Filesystem' && { volumeMode: volume.volumeMode }),
      ...(volume.storageClass !== undefined && { storageClassName: volume.storageClass }),
      resources: { requests: { storage: facts.claimSize ?? volume.size } },
    },
  }
}

/**
 * Returns the claims of a StatefulSet's first Pod. A missing claim is replaced by an ephemeral one that lives as long
 * as the mirror's Pod, so that the application does not later find a claim that it did not create.
 */
function firstClaims(original: LiveObject, { claims }: MirrorFacts): readonly (Json & { readonly name: string })[] {
  return listIn(mapIn(original, 'spec'), 'volumeClaimTemplates').map(template => {
    const name = String(mapIn(template, 'metadata')['name'])
    const existing = `${name}-${firstName(original)}`
    return claims.has(existing)
      ? { name, persistentVolumeClaim: { claimName: existing } }
      : { name, ephemeral: { volumeClaimTemplate: { spec: template['spec'] } } }
  })
}

/** Returns the name of a StatefulSet's first Pod, such as `db-0`. */
export function firstName(original: LiveObject): string {
  const start = mapIn(mapIn(original, 'spec'), 'ordinals')['start'] ?? 0
  return `${original.metadata.name}-${start}`
}

/** Returns the Pod fields `hostname` and `subdomain`, under which other Pods find the first Pod of a StatefulSet. */
function firstPod(original: LiveObject): Json {
  const { serviceName } = mapIn(original, 'spec') as { readonly serviceName?: string } // a StatefulSet's
  return compact({ hostname: firstName(original), subdomain: serviceName })
}

function standAlone(settings: MirrorSettings): Detached {
  return {
    labels: { 'app.kubernetes.io/name': settings.name },
    annotations: {},
    spec: { containers: [{ name: settings.container ?? 'dev', image: settings.image ?? '' }] },
  }
}

function standAloneService(settings: MirrorSettings, facts: MirrorFacts): MirrorObject {
  const { labels } = standAlone(settings)
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: settings.name, namespace: facts.namespace, labels: developmentLabels(settings, undefined) },
    spec: {
      selector: overlaid(labels, settings.labels),
      ports: settings.ports.map(port => ({ name: `port-${port}`, port, targetPort: port, protocol: 'TCP' })),
    },
  }
}
