/** Node labels that no node has. The Pods of an original with them stay pending, and cost next to nothing. */
export const NO_NODE = { 'devctl-test/node': 'none' }

/** Node labels that every node has. A mirror gets them instead of those of its original, and runs. */
export const ANY_NODE = { 'kubernetes.io/os': 'linux' }

/** `NO_NODE` as a key of a Compose service. */
export const PENDING = `x-node-selector: ${JSON.stringify(NO_NODE)}`

/** `ANY_NODE` as a key of a development container. */
export const RUNNING = `nodeSelector: ${JSON.stringify(ANY_NODE)}`
