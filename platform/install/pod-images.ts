import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { MANAGED_LABEL } from '../records/names.ts'
import { admissionPolicy, resourceRule } from './admission.ts'

const NAME = 'devctl-pod-images'
/** The place of images that everybody has (`rules/registry-access`). */
const SHARED = 'shared'

/**
 * Which images a Pod of a managed namespace takes from its node. A node that has pulled an image for one namespace runs
 * it for every other one that knows its name, without asking the registry. So images of other namespaces in the
 * registry of the platform are pulled each time, for which the Pod needs a login, and no image is named by its id.
 */
export const podImagesPolicy = (registry: string | undefined): readonly KubeObject[] =>
  admissionPolicy(NAME, {
    matchConstraints: {
      namespaceSelector: { matchLabels: { [MANAGED_LABEL]: 'true' } },
      resourceRules: [resourceRule([''], ['pods', 'pods/ephemeralcontainers'], ['CREATE', 'UPDATE'])],
    },
    // What runs already can get labels and finalizers.
    matchConditions: [
      {
        name: 'images',
        expression: `request.operation == 'CREATE' || ${KINDS.map(kind => `${imagesOf('object', kind)} != ${imagesOf('oldObject', kind)}`).join(' || ')}`,
      },
    ],
    variables: [
      { name: 'containers', expression: KINDS.map(kind => `object.spec.?${kind}.orValue([])`).join(' + ') },
      { name: 'name', expression: 'namespaceObject.metadata.name' },
    ],
    validations: [
      {
        expression: `variables.containers.all(c, !c.?image.orValue('').matches('^(sha256:)?[0-9a-f]{64}$'))`,
        message: 'an image is named, and not by its id: a node may have it for somebody else',
      },
      ...(registry === undefined ? [] : [ownImages(registry)]),
    ],
  })

const KINDS = ['containers', 'initContainers', 'ephemeralContainers']
const imagesOf = (object: string, kind: string): string =>
  `${object}.spec.?${kind}.orValue([]).map(c, c.?image.orValue(''))`

function ownImages(registry: string) {
  const quoted = registry.replaceAll('.', String.raw`\\.`)
  const isOwn = `c.image.startsWith('${registry}/${SHARED}/') || c.image.matches('^${quoted}/' + variables.name + '-[0-9a-f]{8}/')`
  return {
    expression: `variables.containers.all(c, !c.?image.orValue('').startsWith('${registry}/') || ${isOwn} || c.?imagePullPolicy.orValue('') == 'Always')`,
    message: `an image of another namespace needs \`pull_policy: always\` (\`imagePullPolicy\`) and a login: else a node that has it would not ask whether this Pod may have it`,
  }
}
