import { registryIn } from '../../compiler/values/images/image-reference.ts'

/** Name under which Docker and Kubernetes keep the credentials of Docker Hub. */
export const HUB_KEY = 'https://index.docker.io/v1/'

const HUB = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io'])

/**
 * Returns the host of an image's registry, with its port: `docker.io` if the reference names none
 * (https://pkg.go.dev/github.com/distribution/reference).
 */
export function registryOf(image: string): string {
  return hostOf(registryIn(image) ?? 'docker.io')
}

/**
 * Returns the path of an image in its registry, for a name without tag and digest: `library/nginx` for `nginx`,
 * `team/web` for `localhost:5000/team/web`.
 */
export function repositoryOf(name: string): string {
  const host = registryIn(name)
  const path = host === undefined ? name : name.slice(host.length + 1)
  return registryOf(name) === 'docker.io' && !path.includes('/') ? `library/${path}` : path
}

/** Returns the host for a key of the Docker configuration: `docker.io` for `https://index.docker.io/v1/`. */
export function hostOf(key: string): string {
  const host = key
    .replace(/^https?:\/\//, '')
    .split('/')[0]!
    .toLowerCase()
  return HUB.has(host) ? 'docker.io' : host
}

/**
 * Returns the reference of an image's copy in another registry: the path and tag of the image, with `registry` in place
 * of the original registry. A mirror of several registries uses the same form. Omits the digest, because the owner of
 * `registry` may build the image anew.
 */
export function copyIn(registry: string, image: string): string {
  const [tagged = image] = image.split('@')
  const [, name = tagged, tag = ''] = /^(.+)(:[^:/]+)$/.exec(tagged) ?? []
  return `${registry}/${repositoryOf(name)}${tag}`
}
