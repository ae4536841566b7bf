/** Matches paths of remote files that Docker Compose can include and devctl cannot. */
export const REMOTE_FILE = /^(?:oci:\/\/|https?:\/\/|git@|git:\/\/|ssh:\/\/|github\.com\/)/
