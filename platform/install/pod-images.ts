import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-pod-images'
/**
 * The repository prefix of shared images, and the digits of the uid in that of a namespace (`rules/registry-access`).
 */
const SHARED = 'shared'
const DIGITS = 8

/**
 * The images that a Pod of a managed namespace may use from the cache of its node. A node that has pulled an image for
 * one namespace runs it for any other that knows its name, without asking the registry. So images of other namespaces
 * in the platform's registry are always pulled, which requires a login of the Pod, and no image may be referred to by
 * its id.
 */
export const podImagesPolicy = (registry: string | undefined): readonly KubeObject[] =>
  admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [resourceRule([''], ['pods', 'pods/ephemeralcontainers'], ['CREATE', 'UPDATE'])],
    },
    // Labels and finalizers of existing Pods can be changed.
    matchConditions: [
      {
        name: 'images',
        expression: `request.operation == 'CREATE' || ${KINDS.map(kind => `${imagesOf('object', kind)} != ${imagesOf('oldObject', kind)}`).join(' || ')}`,
      },
    ],
    variables: [
      { name: 'containers', expression: KINDS.map(kind => `object.spec.?${kind}.orValue([])`).join(' + ') },
      // The result of `placeFor`. The type that CEL gets for a namespace does not contain its uid.
      {
        name: 'place',
        expression: `namespaceObject.metadata.name + '-' + string(dyn(namespaceObject).metadata.uid).substring(0, ${DIGITS})`,
      },
    ],
    validations: [
      {
        expression: `variables.containers.all(c, !c.?image.orValue('').matches('^(sha256:)?[0-9a-f]{64}$'))`,
        message: 'an image cannot be referred to by its id here: a node may have it for somebody else',
      },
      ...(registry === undefined ? [] : [ownImages(registry)]),
    ],
  })

const KINDS = ['containers', 'initContainers', 'ephemeralContainers']
const imagesOf = (object: string, kind: string): string =>
  `${object}.spec.?${kind}.orValue([]).map(c, c.?image.orValue(''))`

function ownImages(registry: string) {
  const isOwn = `c.image.startsWith('${registry}/${SHARED}/') || c.image.startsWith('${registry}/' + variables.place + '/')`
  return {
    expression: `variables.containers.all(c, !c.?image.orValue('').startsWith('${registry}/') || ${isOwn} || c.?imagePullPolicy.orValue('') == 'Always')`,
    message: `an image of another namespace needs \`pull_policy: always\` (\`imagePullPolicy\`) and a login: otherwise a node that has the image would not check whether this Pod may use it`,
  }
}
