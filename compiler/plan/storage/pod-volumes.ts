import { join } from 'node:path/posix'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import type { PlanContext } from '../context.ts'
import { cutName, slug } from '../object-names.ts'
import type { ClaimSpec, ContainerMount, KeyPath, PodVolume, WorkloadPlan } from '../plan.ts'
import type { Held, StoredMount } from './stored-mount.ts'

const anonymousName = diagnostic({
  code: 'volumes/anonymous-name',
  severity: 'warning',
  explain: `The claims of an anonymous volume are named after its path. Here a volume before it in the Pod has the same name, so they get a number: \`data-2\` in place of \`data\`. The data of an anonymous volume does not follow a change of this name. If the service was deployed without the other volume, or with the two in the other order, its data is in the claims without the number, and it starts with an empty volume. A named volume keeps its name.`,
  text: (p: { target: string; wanted: string; name: string }) => ({
    message: `the claims of the anonymous volume \`${p.target}\` begin with \`${p.name}\`, because another volume is \`${p.wanted}\``,
    hint: 'use a named volume, or list it before the other one if its data is in claims without the number',
  }),
})

/** The volumes of a Pod, collected while its containers are planned. */
export interface PodVolumes {
  /**
   * Returns the mount of a container, and adds the volume that it needs. Mounts that share a volume add it only once.
   */
  mount(mount: StoredMount, owner: VolumeOwner): ContainerMount
  readonly volumes: readonly PodVolume[]
  readonly claimTemplates: readonly ClaimSpec[]
}

/**
 * The service that a volume belongs to. `prefix` distinguishes the anonymous volumes of members other than the lead
 * from the volumes of the lead.
 */
export interface VolumeOwner {
  readonly service: string
  readonly prefix?: string
}

/**
 * Collects the volumes of a Pod. Anonymous volumes become claim templates in a StatefulSet, and ephemeral volumes in
 * other workloads.
 */
export function collectVolumes({ reporter }: Pick<PlanContext, 'reporter'>, kind: WorkloadPlan['kind']): PodVolumes {
  const volumes: PodVolume[] = []
  const claimTemplates: ClaimSpec[] = []
  const taken = new Map<string, Span>()
  const byIdentity = new Map<string, string>()

  const volumeOf = ({ held, target, span }: StoredMount, { service, prefix }: VolumeOwner): string => {
    const add = (identity: string, wanted: string, make: (name: string, base: string) => void): string => {
      const known = byIdentity.get(identity)
      if (known !== undefined) return known
      const base = cutName(slug(wanted) || 'volume', 60)
      let name = base
      for (let number = 2; taken.has(name); number++) name = `${base}-${number}`
      taken.set(name, span)
      byIdentity.set(identity, name)
      make(name, base)
      return name
    }
    // A volume that only this mount uses is identified by its service and mount path.
    const own = `${held.kind} ${service} ${target}`
    switch (held.kind) {
      case 'claim':
        return add(`claim ${held.claim}`, held.claim, name => volumes.push({ kind: 'claim', name, claim: held.claim }))
      case 'anonymous': {
        const wanted = prefix ? `${prefix}-${held.name}` : held.name
        return add(own, wanted, (name, base) => {
          const spec = { ...held.spec, name }
          if (kind !== 'StatefulSet') return void volumes.push({ kind: 'ephemeral', name, spec })
          claimTemplates.push(spec)
          const other = name === base ? undefined : taken.get(base)
          const related = other && [{ span: other, message: 'the other one is here' }]
          if (related) reporter.report(anonymousName, span, { target, wanted: base, name }, related)
        })
      }
      case 'configMap':
      case 'secret': {
        const { object, mode } = held
        const items = held.items && within(topOf(held), held.items)
        const options = { ...(mode !== undefined && { mode }), ...(items && { items }) }
        return add(`${held.kind} ${object} ${mode} ${items ? target : ''}`, held.name, name =>
          volumes.push(
            held.kind === 'configMap'
              ? { kind: 'configMap', name, configMap: object, ...options }
              : { kind: 'secret', name, secret: object, ...options },
          ),
        )
      }
      case 'projected': {
        const top = topOf(held)
        const sources = held.sources.map(({ kind, object, items }) => ({ kind, object, items: within(top, items) }))
        const folders = held.folders.map(folder => join(top, folder))
        return add(own, held.name, name => volumes.push({ kind: 'projected', name, sources, folders }))
      }
      case 'nfs':
        return add(`nfs ${held.server} ${held.path}`, held.name, name =>
          volumes.push({ kind: 'nfs', name, server: held.server, path: held.path }),
        )
      case 'hostPath':
        return add(`hostPath ${held.path}`, held.name, name =>
          volumes.push({ kind: 'hostPath', name, path: held.path, ...(held.type && { type: held.type }) }),
        )
      case 'image':
        return add(`image ${held.reference}`, held.name, name =>
          volumes.push({
            kind: 'image',
            name,
            reference: held.reference,
            ...(held.pullPolicy && { pullPolicy: held.pullPolicy }),
          }),
        )
      case 'memory':
        return add(`memory ${held.owner ?? service} ${target}`, held.name, name =>
          volumes.push({ kind: 'memory', name, ...(held.sizeLimit && { sizeLimit: held.sizeLimit }) }),
        )
      case 'empty':
        return add(own, held.name, name => volumes.push({ kind: 'empty', name }))
    }
  }

  return {
    volumes,
    claimTemplates,
    mount(mount, owner) {
      const volume = volumeOf(mount, owner)
      const subPath = subPathOf(mount, volume)
      return {
        volume,
        path: mount.target,
        ...(subPath !== undefined && { subPath }),
        ...(mount.readOnly && { readOnly: true }),
        ...(mount.propagation && { propagation: mount.propagation }),
        ...(mount.recursiveReadOnly && { recursiveReadOnly: true }),
      }
    },
  }
}

/**
 * Returns the folder in a volume that contains the volume's files: `files` if the name of a file starts with `..`;
 * otherwise an empty text, which means the root. At the root, such names are reserved for the kubelet (`..data`), and
 * the API server refuses them.
 */
function topOf(held: Extract<Held, { kind: 'configMap' | 'secret' | 'projected' }>): string {
  const paths =
    held.kind === 'projected'
      ? [...held.sources.flatMap(({ items }) => items.map(({ path }) => path)), ...held.folders]
      : (held.items ?? []).map(({ path }) => path)
  return paths.some(path => path.startsWith('..')) ? 'files' : ''
}

const within = (top: string, items: readonly KeyPath[]): readonly KeyPath[] =>
  top === '' ? items : items.map(item => ({ ...item, path: join(top, item.path) }))

/**
 * Returns the path within the volume to mount. The data of a claim that devctl creates is in a folder, never at the
 * root, where file systems keep their own files (`lost+found`).
 */
function subPathOf({ held }: StoredMount, volume: string): string | undefined {
  switch (held.kind) {
    case 'claim':
      return [held.directory, held.subPath].filter(part => part !== undefined).join('/') || undefined
    case 'anonymous':
      return volume
    case 'configMap':
    case 'secret':
      return held.subPath ?? (topOf(held) || undefined)
    case 'projected':
      return topOf(held) || undefined
    case 'nfs':
    case 'image':
      return held.subPath
    default:
      return undefined
  }
}
