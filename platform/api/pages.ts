/**
 * Paths of the pages. The server answers each of them with the web UI, which then shows the page. A segment that begins
 * with a colon is a parameter.
 */
export const PAGES = {
  home: '/',
  login: '/login',
  setup: '/setup',
  cli: '/cli',
  device: '/device',
  namespace: '/namespaces/:ns',
  environment: '/namespaces/:ns/environments/:env',
  service: '/namespaces/:ns/environments/:env/services/:service',
  serviceEvents: '/namespaces/:ns/environments/:env/services/:service/events',
  serviceProblems: '/namespaces/:ns/environments/:env/services/:service/problems',
  serviceSettings: '/namespaces/:ns/environments/:env/services/:service/settings',
  runs: '/namespaces/:ns/runs',
  run: '/runs/:id',
  previews: '/previews',
  webhooks: '/previews/webhooks',
  variables: '/namespaces/:ns/variables',
  members: '/namespaces/:ns/members',
  settings: '/namespaces/:ns/settings',
  you: '/you',
  tokens: '/you/tokens',
  yourVariables: '/you/variables',
  overview: '/admin/overview',
  users: '/admin/users',
  everybodysVariables: '/admin/variables',
  analytics: '/admin/analytics',
  platformSettings: '/admin/settings',
} as const

export type PageName = keyof typeof PAGES

type ParametersOf<P extends string> = P extends `${string}:${infer N}/${infer Rest}`
  ? N | ParametersOf<`/${Rest}`>
  : P extends `${string}:${infer N}`
    ? N
    : never

type Given<P extends PageName> =
  ParametersOf<(typeof PAGES)[P]> extends never
    ? readonly []
    : readonly [parameters: Readonly<Record<ParametersOf<(typeof PAGES)[P]>, string>>]

/** Returns the path of a page. */
export function addressOf<P extends PageName>(page: P, ...[parameters]: Given<P>): string {
  const values: Readonly<Record<string, string>> = parameters ?? {}
  return PAGES[page].replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
}
