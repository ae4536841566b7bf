import type { Settings } from './world.ts'

/** Namespaces that a developer may own, unless the settings say another number. */
const NAMESPACES = 5

/** The settings in a JSON file. Throws an Error that names what is wrong: the server does not start with half of them. */
export function readSettings(text: string): Settings {
  const found = JSON.parse(text) as Readonly<Record<string, unknown>>
  const textOf = (key: string, value: unknown = found[key]) => {
    if (typeof value !== 'string' || value === '') throw new Error(`settings: \`${key}\` is no text`)
    return value
  }
  const kubernetes = (found['kubernetes'] ?? {}) as Readonly<Record<string, unknown>>
  const number = found['namespacesPerUser'] ?? NAMESPACES
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0)
    throw new Error('settings: `namespacesPerUser` is no number of namespaces')
  const ca = kubernetes['ca']
  return {
    domain: textOf('domain'),
    url: textOf('url'),
    kubernetes: {
      server: textOf('kubernetes.server', kubernetes['server']),
      ...(ca !== undefined && { ca: textOf('kubernetes.ca', ca) }),
    },
    namespacesPerUser: number,
  }
}
