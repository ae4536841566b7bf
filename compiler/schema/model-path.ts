/** The path of a value in the model: keys and list indices. */
export type ModelPath = readonly (string | number)[]

const resourceNouns: Readonly<Record<string, string>> = {
  services: 'service',
  volumes: 'volume',
  networks: 'network',
  secrets: 'secret',
  configs: 'config',
  models: 'model',
  jobs: 'job',
}

/** Formats a path, such as `services.web.ports[2].target`. Keys with special characters are quoted. */
export function formatPath(path: ModelPath): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += `${text === '' ? '' : '.'}${/^[\w-]+$/.test(step) ? step : JSON.stringify(step)}`
  }
  return text
}

/** Describes the service or resource that contains a path, such as `` service `web` ``. */
export function describeResource(path: ModelPath): string | undefined {
  const [family, name] = path
  const owner = typeof family === 'string' ? resourceNouns[family] : undefined
  return owner === undefined || name === undefined ? undefined : `${owner} \`${name}\``
}

/**
 * Describes a path for a message, such as `` `ports[2].target` of service `web` ``, `` service `web` `` or ``
 * `endpoints[0]` ``.
 */
export function describePath(path: ModelPath): string {
  const owner = describeResource(path)
  if (owner === undefined) return `\`${formatPath(path)}\``
  return path.length === 2 ? owner : `\`${formatPath(path.slice(2))}\` of ${owner}`
}
