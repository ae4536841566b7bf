import type { RegistryLogin } from '../../adapters/registry/docker-config.ts'
import { HUB_KEY } from '../../adapters/registry/registry.ts'

/**
 * Type of a Secret with registry credentials, and its only key
 * (https://kubernetes.io/docs/concepts/configuration/secret/#docker-config-secrets).
 */
export const PULL_SECRET_TYPE = 'kubernetes.io/dockerconfigjson'
export const PULL_SECRET_KEY = '.dockerconfigjson'

/** Returns the content of such a Secret. The content does not depend on the order of the logins. */
export function pullSecretContent(logins: ReadonlyMap<string, RegistryLogin>): string {
  const auths = [...logins]
    .map(([registry, { username, password }]) => {
      const auth = Buffer.from(`${username}:${password}`).toString('base64')
      return [registry === 'docker.io' ? HUB_KEY : registry, { username, password, auth }] as const
    })
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify({ auths: Object.fromEntries(auths) })
}
