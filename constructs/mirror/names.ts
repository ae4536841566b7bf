import { takeName } from '../pod/helper.ts'

/** Label of a mirror and its Pods. Its value is the name of the original, truncated to 63 characters. */
export const MIRROR_LABEL = 'dev.platform/mirror'
/** Label of all objects of a development container, with the name of the container as its value. */
export const DEVELOPMENT_LABEL = 'dev.platform/development'
/** Label of an application that has a mirror. */
export const UP_LABEL = 'dev.platform/up'
/** Annotation of an application that has a mirror, and of the mirror. It contains the information that `down` needs. */
export const UP_ANNOTATION = 'dev.platform/up'
/**
 * Annotation of a mirror's Pods with a hash of the agent and its session. If the hash changes, Kubernetes replaces the
 * Pods.
 */
export const SESSION_ANNOTATION = 'dev.platform/session'

/** Annotation of a mirror with the user of an image, such as `nginx:1.27 101:101`. */
export const USER_ANNOTATION = 'dev.platform/user'

/** Names of the volumes, and of the agent's container, to which several parts of a development Pod refer. */
export const SYNC_VOLUME = 'devctl-sync'
export const RUN_VOLUME = 'devctl-run'
export const CODE_VOLUME = 'devctl-code'
export const FILES_VOLUME = 'devctl-files'
export const TOOLS_VOLUME = 'devctl-tools'
export const AGENT_CONTAINER = 'devctl-agent'
/** Name of the init container that writes the user as whom it runs, such as `1000:1000`, to its termination message. */
export const USER_CONTAINER = 'devctl-user'
/** Mount path of the file volume in the agent. */
export const VOLUME_PATH = '/devctl/volume'
/** Mount path of the agent's in-memory volume. */
export const RUN_PATH = '/run/devctl'
/** Name of the container that copies the files of the image into the volume. */
export const FILL_CONTAINER = 'devctl-fill'
/** Path of the file that is created when the application may start. */
export const READY_FILE = `${RUN_PATH}/ready`
/** Path of the file that is created when the files of the image are in the volume. */
export const FILLED_FILE = `${RUN_PATH}/filled`
/** Folder in the agent's in-memory volume that the development container also mounts, for the agent's sockets. */
export const SHARED_FOLDER = 'shared'
export const SHARED_PATH = '/devctl-shared'
export const TOOLS_PATH = '/devctl-tools'

/** Returns the name of an application's mirror, or of a development container without an application. */
export const mirrorName = (name: string): string => `${name}-dev`

/** Returns the name of the Secret with the agent and its session. */
export const sessionSecretName = (mirror: string): string => `${mirror}-session`

/** Returns the name of a development container's claim. */
export const claimName = (development: string): string => `${development}-dev`

/** Converts a name to a valid label value of at most 63 characters. */
export const labelValue = (name: string): string => takeName(name, new Set())
