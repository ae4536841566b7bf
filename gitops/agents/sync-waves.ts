import { isRoute, isWorkload } from '../../constructs/kinds.ts'
import type { Manifest } from '../../constructs/manifest.ts'
import { withAnnotations } from './annotations.ts'
import { at, isMap, listAt } from './json-values.ts'

/** The part of a workload's plan that determines its wave. */
export interface WaveWorkload {
  /** Name of the service in the form that Kubernetes accepts. */
  readonly service: string
  readonly dependencies?: readonly {
    readonly service: string
    readonly condition: 'service_started' | 'service_healthy' | 'service_completed_successfully'
  }[]
}

const WAVE = 'argocd.argoproj.io/sync-wave'
const SERVICE = 'dev.platform/service'

/**
 * Adds sync waves of Argo CD, which delays a wave until the previous one is healthy. Only objects that have to come
 * later get a wave: workloads that wait for another workload to be healthy or complete, claims that no Pod of an
 * earlier wave mounts, and routes to such workloads. Services, configuration and accounts stay in the first wave, so
 * that they exist before the objects that need them. A wave that is set in a file is kept.
 */
export function withSyncWaves(manifests: readonly Manifest[], workloads: readonly WaveWorkload[]): readonly Manifest[] {
  const layers = layersOf(workloads)
  const running = manifests.flatMap(({ object }) =>
    isWorkload(object)
      ? [{ wave: layers.get(object.metadata.labels?.[SERVICE] ?? '') ?? 0, template: at(object, 'spec', 'template') }]
      : [],
  )
  const claims = wavesOfClaims(running)
  const services = wavesOfServices(manifests, running)
  const last = Math.max(0, ...layers.values())

  const waveOf = ({ object }: Manifest): number => {
    const { kind, metadata, spec } = object
    if (isWorkload(object)) return layers.get(metadata.labels?.[SERVICE] ?? '') ?? 0
    // A claim that no Pod mounts may stay unbound forever, so nothing may wait for such a claim.
    if (kind === 'PersistentVolumeClaim') return claims.get(metadata.name) ?? last
    if (isRoute(object)) return Math.max(0, ...backendsOf(spec).map(name => services.get(name) ?? 0))
    return 0
  }
  return manifests.map(manifest => {
    const { annotations } = manifest.object.metadata
    const wave = waveOf(manifest)
    if (wave === 0 || annotations?.[WAVE] !== undefined) return manifest
    return withAnnotations(manifest, { ...annotations, [WAVE]: String(wave) })
  })
}

/**
 * Returns the wave of each service: one more than the wave of the services that must be healthy or complete first. A
 * service that only needs another service to be started may be in the same wave.
 */
function layersOf(workloads: readonly WaveWorkload[]): ReadonlyMap<string, number> {
  const byService = new Map(workloads.map(workload => [workload.service, workload]))
  const layers = new Map<string, number>()
  const layerOf = (service: string): number => {
    const known = layers.get(service)
    if (known !== undefined) return known
    // The compiler has rejected cycles. A service that waits for itself runs in the same Pod as its dependency.
    layers.set(service, 0)
    const needed = (byService.get(service)?.dependencies ?? []).filter(one => one.service !== service)
    const layer = Math.max(
      0,
      ...needed.map(one => layerOf(one.service) + (one.condition === 'service_started' ? 0 : 1)),
    )
    layers.set(service, layer)
    return layer
  }
  for (const { service } of workloads) layerOf(service)
  return layers
}

interface Running {
  readonly wave: number
  readonly template: unknown
}

/**
 * Returns the wave of each claim. A claim binds when its first Pod is scheduled, so in an earlier wave it would block
 * all later waves (argo-cd#12840).
 */
function wavesOfClaims(running: readonly Running[]): ReadonlyMap<string, number> {
  const waves = new Map<string, number>()
  for (const { wave, template } of running) {
    for (const name of claimsIn(template)) waves.set(name, Math.min(wave, waves.get(name) ?? wave))
  }
  return waves
}

function claimsIn(template: unknown): readonly string[] {
  const names = listAt(template, 'spec', 'volumes').map(volume => at(volume, 'persistentVolumeClaim', 'claimName'))
  return names.filter(name => typeof name === 'string')
}

/** Returns the first wave in which each Service has Pods. */
function wavesOfServices(manifests: readonly Manifest[], running: readonly Running[]): ReadonlyMap<string, number> {
  const services = manifests.flatMap(({ object }) => {
    const selector = at(object, 'spec', 'selector')
    return object.kind === 'Service' && isMap(selector) ? [[object.metadata.name, selector] as const] : []
  })
  return new Map(
    services.map(([name, selector]) => {
      const waves = running.filter(({ template }) => selects(selector, template)).map(({ wave }) => wave)
      return [name, waves.length > 0 ? Math.min(...waves) : 0]
    }),
  )
}

function selects(selector: object, template: unknown): boolean {
  return Object.entries(selector).every(([key, value]) => at(template, 'metadata', 'labels', key) === value)
}

/** Returns the names of the Services that an Ingress or HTTPRoute routes to. */
function backendsOf(spec: unknown): readonly string[] {
  const names = listAt(spec, 'rules').flatMap(rule => [
    ...listAt(rule, 'backendRefs').map(backend => at(backend, 'name')),
    ...listAt(rule, 'http', 'paths').map(path => at(path, 'backend', 'service', 'name')),
  ])
  return names.filter(name => typeof name === 'string')
}
