/** A place in the model: keys, and indices of lists. */
export type ModelPath = readonly (string | number)[]

const owners: Readonly<Record<string, string>> = {
  services: 'service',
  volumes: 'volume',
  networks: 'network',
  secrets: 'secret',
  configs: 'config',
  models: 'model',
  jobs: 'job',
}

/** `services.web.ports[2].target`; keys that are no plain words are quoted. */
export function spell(path: ModelPath): string {
  let spelt = ''
  for (const step of path) {
    if (typeof step === 'number') spelt += `[${step}]`
    else spelt += `${spelt === '' ? '' : '.'}${/^[\w-]+$/.test(step) ? step : JSON.stringify(step)}`
  }
  return spelt
}

/** The service or resource that a path lies in: `` service `web` ``. */
export function ownerOf(path: ModelPath): string | undefined {
  const [family, name] = path
  const owner = typeof family === 'string' ? owners[family] : undefined
  return owner === undefined || name === undefined ? undefined : `${owner} \`${name}\``
}

/** A place in words, the innermost first: `` `ports[2].target` of service `web` ``, `` service `web` ``, `` `endpoints[0]` ``. */
export function where(path: ModelPath): string {
  const owner = ownerOf(path)
  if (owner === undefined) return `\`${spell(path)}\``
  return path.length === 2 ? owner : `\`${spell(path.slice(2))}\` of ${owner}`
}
