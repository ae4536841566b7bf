import fc from 'fast-check'
import { expect } from 'vitest'
import { hostsPolicy } from '../../../platform/install/manifests/hosts.ts'
import { longerNames, ownerOfHost, shorterNames } from '../../../platform/rules/hosts.ts'
import { namespaceNameProblem } from '../../../platform/rules/names.ts'

const DOMAIN = 'dev.example.com'

/** Few letters, so that names end with one another all the time. */
const name = fc
  .string({ unit: fc.constantFrom('a', 'b', '-', '-', '1'), minLength: 1, maxLength: 7 })
  .filter(text => namespaceNameProblem(text) === undefined)
const label = fc.string({ unit: fc.constantFrom('a', 'b', '-', '-', '1', '.', '*', 'A'), minLength: 1, maxLength: 9 })
const host = fc.oneof(
  fc
    .tuple(label, fc.constantFrom(`.${DOMAIN}`, `.x.${DOMAIN}`, '.example.com', DOMAIN, ''))
    .map(parts => parts.join('')),
  fc.constant(`platform.${DOMAIN}`),
)

/**
 * Returns true if the policy of a namespace allows an Ingress to use the host, by the expressions that the API server
 * evaluates.
 */
function accepts(namespace: string, all: readonly string[], host: string): boolean {
  const [policy] = hostsPolicy(DOMAIN)
  const { variables } = policy!['spec'] as unknown as Variables // as admissionPolicy writes it
  const text = (key: string) => variables.find(one => one.name === key)!.expression
  const [, before = '', after = ''] = /matches\('(.*)' \+ variables\.name \+ '(.*)'\)/.exec(text('wrong')) ?? []
  // Texts of CEL write a backslash twice.
  const own = new RegExp(`${before}${namespace}${after.replaceAll('\\\\', '\\')}`)
  expect(text('taken')).toContain(`h == n + '.${DOMAIN}' || h.endsWith('-' + n + '.${DOMAIN}')`)
  const isTaken = longerNames(namespace, all).some(
    longer => host === `${longer}.${DOMAIN}` || host.endsWith(`-${longer}.${DOMAIN}`),
  )
  return own.test(host) && !isTaken
}

interface Variables {
  readonly variables: readonly { readonly name: string; readonly expression: string }[]
}

/** No two namespaces can have one host, and the server gives it to the one that can. */
export function tryHosts(numRuns: number): void {
  fc.assert(
    fc.property(fc.uniqueArray(name, { minLength: 1, maxLength: 8 }), host, fc.nat(), (all, any, at) => {
      const one = all[at % all.length]!
      // Half of them are hosts that a user could ask for.
      const wanted = at % 2 ? any : `${any.split('.')[0]}-${one}.${DOMAIN}`
      const owners = all.filter(namespace => accepts(namespace, all, wanted))
      expect(owners.length, owners.join(' and ')).toBeLessThanOrEqual(1)
      if (owners.length === 1) expect(ownerOfHost(wanted, DOMAIN, all)).toBe(owners[0])
      if (owners.length === 1) expect(wanted).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?\.dev\.example\.com$/)
      expect(accepts(one, all, `platform.${DOMAIN}`)).toBe(false)
      // `longerNames` and `shorterNames` are inverse to each other.
      for (const other of all)
        expect(longerNames(one, all).includes(other)).toBe(shorterNames(other, all).includes(one))
    }),
    { numRuns },
  )
}
