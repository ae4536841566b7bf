/** By what name Docker and Kubernetes keep the credentials of Docker Hub. */
export const HUB_KEY = 'https://index.docker.io/v1/'

const HUB = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io'])

/** The host of an image's registry, with its port: `docker.io` where the reference names none (https://pkg.go.dev/github.com/distribution/reference). */
export function registryOf(image: string): string {
  const slash = image.indexOf('/')
  const first = image.slice(0, Math.max(0, slash))
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase()
  return hostOf(isHost ? first : 'docker.io')
}

/** The host that a key of the Docker configuration is about: `https://index.docker.io/v1/` is `docker.io`. */
export function hostOf(key: string): string {
  const host = key
    .replace(/^https?:\/\//, '')
    .split('/')[0]!
    .toLowerCase()
  return HUB.has(host) ? 'docker.io' : host
}
