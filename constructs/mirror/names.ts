import { takeName } from '../pod/helper.ts'

/** The label of a mirror and its Pods; its value is the name of the original, cut to 63 characters. */
export const MIRROR_LABEL = 'dev.platform/mirror'
/** The label of all objects of a development container; its value is its name. */
export const DEVELOPMENT_LABEL = 'dev.platform/development'
/** The label of an application that has a mirror. */
export const UP_LABEL = 'dev.platform/up'
/** The annotation of an application that has a mirror, and of the mirror: what `down` needs to know. */
export const UP_ANNOTATION = 'dev.platform/up'
/** The annotation of a mirror's Pods with a hash of the agent and its session: another one rolls them. */
export const SESSION_ANNOTATION = 'dev.platform/session'

/** The annotation of a mirror with the user of an image: `nginx:1.27 101:101`. */
export const USER_ANNOTATION = 'dev.platform/user'

/** Names that the parts of a development Pod agree on. */
export const SYNC_VOLUME = 'devctl-sync'
export const RUN_VOLUME = 'devctl-run'
export const CODE_VOLUME = 'devctl-code'
export const FILES_VOLUME = 'devctl-files'
export const TOOLS_VOLUME = 'devctl-tools'
export const AGENT_CONTAINER = 'devctl-agent'
/** The init container that ends with its user as its termination message: `1000:1000`. */
export const USER_CONTAINER = 'devctl-user'
/** Mount path in the agent of the volume with the files. */
export const VOLUME_PATH = '/devctl/volume'
/** The folder of the agent's volume in memory. */
export const RUN_PATH = '/run/devctl'
/** The container that copies the files of the image into the volume. */
export const FILL_CONTAINER = 'devctl-fill'
/** Made when the application may start. */
export const READY_FILE = `${RUN_PATH}/ready`
/** Made when the files of the image are in the volume. */
export const FILLED_FILE = `${RUN_PATH}/filled`
/** A folder in it that the development container sees, with sockets of the agent. */
export const SHARED_FOLDER = 'shared'
export const SHARED_PATH = '/devctl-shared'
export const TOOLS_PATH = '/devctl-tools'

/** The name of the mirror of an application, and of a container without one. */
export const mirrorName = (name: string): string => `${name}-dev`

/** The name of the Secret with the agent and its session. */
export const sessionSecretName = (mirror: string): string => `${mirror}-session`

/** The name of the claim of a development container. */
export const claimName = (development: string): string => `${development}-dev`

/** A name as the value of a label. */
export const labelValue = (name: string): string => takeName(name, new Set())
