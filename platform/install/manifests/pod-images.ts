import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-pod-images'
/**
 * Repository prefix of shared images. `DIGITS` is the number of digits of the namespace's uid in the repository prefix
 * of a namespace (`rules/registry-access`).
 */
const SHARED = 'shared'
const DIGITS = 8

/**
 * Returns the policy for the images that a Pod of a managed namespace may use from the image cache of its node, in
 * containers and as volumes. If a node has pulled an image for one namespace, every other namespace can use the image
 * by its name, without a request to the registry. So images of other namespaces in the platform's registry must always
 * be pulled, which requires registry credentials in the Pod, and no image may be referred to by its id, or by a prefix
 * of the id.
 */
export const podImagesPolicy = (registry: string | undefined): readonly KubeObject[] =>
  admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [resourceRule([''], ['pods', 'pods/ephemeralcontainers'], ['CREATE', 'UPDATE'])],
    },
    // Labels and finalizers of existing Pods can be changed. Volumes cannot.
    matchConditions: [
      {
        name: 'images',
        expression: `request.operation == 'CREATE' || ${KINDS.map(kind => `${imagesOf('object', kind)} != ${imagesOf('oldObject', kind)}`).join(' || ')}`,
      },
    ],
    variables: [
      { name: 'containers', expression: KINDS.map(kind => `object.spec.?${kind}.orValue([])`).join(' + ') },
      {
        name: 'volumes',
        expression: 'object.spec.?volumes.orValue([]).filter(v, has(v.image)).map(v, v.image)',
      },
      // The result of `placeFor`. The CEL type of a namespace does not contain its uid.
      {
        name: 'place',
        expression: `namespaceObject.metadata.name + '-' + string(dyn(namespaceObject).metadata.uid).substring(0, ${DIGITS})`,
      },
    ],
    validations: [
      {
        expression: ofAll(({ image }) => `!${image}.matches('^sha256:|^[0-9a-f]{64}$')`),
        message: 'an image cannot be referred to by its id here: a node may have it for somebody else',
      },
      ...(registry === undefined ? [] : [ownImages(registry)]),
    ],
  })

const KINDS = ['containers', 'initContainers', 'ephemeralContainers']
const imagesOf = (object: string, kind: string): string =>
  `${object}.spec.?${kind}.orValue([]).map(c, c.?image.orValue(''))`

/** CEL expressions for the image of a container or volume, and for its pull policy. */
interface UsedImage {
  readonly image: string
  readonly policy: string
}

/** Returns CEL that is true if a condition is true for each image of the Pod. */
const ofAll = (condition: (used: UsedImage) => string): string =>
  [
    `variables.containers.all(c, ${condition({ image: "c.?image.orValue('')", policy: "c.?imagePullPolicy.orValue('')" })})`,
    `variables.volumes.all(v, ${condition({ image: "v.?reference.orValue('')", policy: "v.?pullPolicy.orValue('')" })})`,
  ].join(' && ')

function ownImages(registry: string) {
  const isOwn = (image: string) =>
    `${image}.startsWith('${registry}/${SHARED}/') || ${image}.startsWith('${registry}/' + variables.place + '/')`
  return {
    expression: ofAll(
      ({ image, policy }) => `(!${image}.startsWith('${registry}/') || ${isOwn(image)} || ${policy} == 'Always')`,
    ),
    message: `an image of another namespace needs \`pull_policy: always\` (\`imagePullPolicy\`) and a login: otherwise a node that has the image would not check whether this Pod may use it`,
  }
}
