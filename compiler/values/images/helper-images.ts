/**
 * Image with a static busybox, for containers that wait, copy files, or provide the tools of development containers.
 */
export const SHELL_IMAGE = 'busybox:1.37'
/** Image of the containers that wait for Jobs. */
export const KUBECTL_IMAGE = 'registry.k8s.io/kubectl:v1.34.2'
/** Image of the agent of development containers: a stock image with Node.js. */
export const AGENT_IMAGE = 'node:22-alpine'

/** The images that devctl adds to applications and development containers. */
export const HELPER_IMAGES: readonly string[] = [SHELL_IMAGE, KUBECTL_IMAGE, AGENT_IMAGE]
