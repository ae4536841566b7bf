import * as k8s from 'cdk8s-plus-27/lib/imports/k8s.js'

/**
 * The typed classes know Kubernetes 1.27 and drop every field that came later. The types here name
 * the later fields that we write, and `podTemplateJson` puts them back into what the typed classes
 * render.
 */
export interface Container extends k8s.Container {
  /** 1.28: makes an init container a sidecar. */
  readonly restartPolicy?: 'Always'
  readonly securityContext?: NewerSecurityContext
  readonly volumeMounts?: NewerVolumeMount[]
}

export interface NewerSecurityContext extends k8s.SecurityContext {
  /** 1.30; before it an annotation. */
  readonly appArmorProfile?: { readonly type: string; readonly localhostProfile?: string }
}

export interface NewerVolumeMount extends k8s.VolumeMount {
  /** 1.30. */
  readonly recursiveReadOnly?: 'Enabled'
}

export interface NewerVolume extends k8s.Volume {
  /** 1.31. */
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
}

type Json = Record<string, unknown>

/** The JSON of a Pod template, with the fields that are newer than the typed classes. */
export function podTemplateJson(template: PodTemplate): Json {
  // The typed renderer takes and gives maps; it gives undefined only for undefined.
  const json = k8s.toJson_PodTemplateSpec(withoutMaps(template)) as Json
  addMaps(json, template.metadata)
  addNewerFields(json, template)
  return json
}

/**
 * Returns a template without its labels and annotations, which `addMaps` adds after rendering: the typed classes copy a
 * map once for each of its keys, and labels and annotations may be many.
 */
export function withoutMaps(template: PodTemplate): PodTemplate {
  const { annotations: _, labels: __, ...metadata } = template.metadata
  return { ...template, metadata }
}

/** Puts the labels and annotations of a Pod template into its rendered form. */
export function addMaps(json: Json, { annotations, labels }: k8s.ObjectMeta): void {
  addAnnotations(json, annotations)
  const metadata = field(json, 'metadata')
  if (labels && metadata) metadata['labels'] = { ...labels }
}

/** Puts annotations into a rendered object or Pod template, before those that it has of its own. */
export function addAnnotations(json: Json, annotations: k8s.ObjectMeta['annotations']): void {
  const metadata = field(json, 'metadata')
  if (annotations && metadata) metadata['annotations'] = { ...field(metadata, 'annotations'), ...annotations }
}

/**
 * Adds to the rendered `json` of a Pod template the fields of `template` that the typed classes
 * dropped. Does nothing when the template has none, so that the usual Pod costs one walk over its
 * containers.
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
}

function assign(place: () => Json | undefined, fields: Json): void {
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const target = place()
    if (target) target[key] = value
  }
}

function field(json: Json | undefined, key: string): Json | undefined {
  // The typed classes render plain JSON: a map where the schema has one.
  return json?.[key] as Json | undefined
}

/**
 * The item of a list, if it is still the one of that name: a patch by a cdk8s user may have moved
 * it.
 */
function item(json: Json | undefined, key: string, index: number, name: string): Json | undefined {
  const found = (json?.[key] as Json[] | undefined)?.[index]
  return found?.['name'] === name ? found : undefined
}
