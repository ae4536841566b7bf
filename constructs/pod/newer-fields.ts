import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'
import { addPodPieces, type PodPieces } from '../piece.ts'

/**
 * A container with fields that the typed classes drop, because they support only Kubernetes 1.27. The types in this
 * file declare the newer fields that devctl writes, and `podTemplateJson` adds these fields to the output of the typed
 * classes.
 */
export interface Container extends k8s.Container {
  /** Field of Kubernetes 1.28 that turns an init container into a sidecar. */
  readonly restartPolicy?: 'Always'
  readonly securityContext?: NewerSecurityContext
  readonly volumeMounts?: NewerVolumeMount[]
}

export interface NewerSecurityContext extends k8s.SecurityContext {
  /** Field of Kubernetes 1.30, which replaces an annotation. */
  readonly appArmorProfile?: { readonly type: string; readonly localhostProfile?: string }
}

export interface NewerVolumeMount extends k8s.VolumeMount {
  /** Field of Kubernetes 1.30. */
  readonly recursiveReadOnly?: 'Enabled'
}

export interface NewerVolume extends k8s.Volume {
  /** Field of Kubernetes 1.31. */
  readonly image?: { readonly reference: string; readonly pullPolicy?: string }
}

export interface PodSpec extends k8s.PodSpec {
  readonly initContainers?: Container[]
  readonly containers: Container[]
  readonly volumes?: NewerVolume[]
}

export interface PodTemplate {
  readonly metadata: k8s.ObjectMeta
  readonly spec: PodSpec
  /** Fields from `x-kubernetes`. */
  readonly pieces?: PodPieces | undefined
}

type Json = Record<string, unknown>

/** Returns the JSON of a Pod template, including fields that the typed classes do not support. */
export function podTemplateJson(template: PodTemplate): Json {
  // The typed renderer returns a map for a map, and undefined only for undefined.
  const json = k8s.toJson_PodTemplateSpec(withoutMaps(template)) as Json
  addMaps(json, template.metadata)
  addNewerFields(json, template)
  return json
}

/**
 * Returns a template without its labels and annotations, which `addMaps` adds after rendering. There may be many of
 * them, and the typed classes copy a map once for each of its keys.
 */
export function withoutMaps(template: PodTemplate): PodTemplate {
  const { annotations: _, labels: __, ...metadata } = template.metadata
  return { ...template, metadata }
}

/** Adds the labels and annotations of a Pod template to its rendered form. */
export function addMaps(json: Json, { annotations, labels }: k8s.ObjectMeta): void {
  addAnnotations(json, annotations)
  const metadata = field(json, 'metadata')
  if (labels && metadata) metadata['labels'] = { ...labels }
}

/** Adds annotations to a rendered object or Pod template, after its existing annotations. */
export function addAnnotations(json: Json, annotations: k8s.ObjectMeta['annotations']): void {
  const metadata = field(json, 'metadata')
  if (annotations && metadata) metadata['annotations'] = { ...field(metadata, 'annotations'), ...annotations }
}

/**
 * Adds to the rendered form `json` the fields of `template` that the typed classes dropped. Does nothing if the
 * template has no such fields, so that an ordinary Pod costs only one pass over its containers.
 */
export function addNewerFields(json: Json, template: PodTemplate): void {
  const { spec } = template
  const lists = [
    ['initContainers', spec.initContainers],
    ['containers', spec.containers],
  ] as const
  for (const [key, containers] of lists) {
    containers?.forEach((container, index) => {
      const place = () => item(field(json, 'spec'), key, index, container.name)
      assign(place, { restartPolicy: container.restartPolicy })
      assign(() => field(place(), 'securityContext'), { appArmorProfile: container.securityContext?.appArmorProfile })
      container.volumeMounts?.forEach((mount, mountIndex) => {
        assign(() => item(place(), 'volumeMounts', mountIndex, mount.name), {
          recursiveReadOnly: mount.recursiveReadOnly,
        })
      })
    })
  }
  spec.volumes?.forEach((volume, index) => {
    assign(() => item(field(json, 'spec'), 'volumes', index, volume.name), { image: volume.image })
  })
  if (template.pieces) addPodPieces(json, template.pieces)
}

function assign(place: () => Json | undefined, fields: Json): void {
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const target = place()
    if (target) target[key] = value
  }
}

function field(json: Json | undefined, key: string): Json | undefined {
  // The typed classes render plain JSON, with a map wherever the schema has one.
  return json?.[key] as Json | undefined
}

/**
 * Returns the item at an index of the list `key` if it has the given name. Returns undefined for any other item,
 * because a patch by a cdk8s user may have moved the expected item.
 */
function item(json: Json | undefined, key: string, index: number, name: string): Json | undefined {
  const found = (json?.[key] as Json[] | undefined)?.[index]
  return found?.['name'] === name ? found : undefined
}
