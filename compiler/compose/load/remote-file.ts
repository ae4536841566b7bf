export const REMOTE_FILE = /^(?:oci:\/\/|https?:\/\/|git@|git:\/\/|ssh:\/\/|github\.com\/)/
