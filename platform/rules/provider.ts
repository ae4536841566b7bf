/** A way to log in with an account that people have already, as it is set up. Its client secret is not here. */
export type ProviderSettings =
  | {
      readonly kind: 'oidc'
      /** In addresses: `/login/oidc`. */
      readonly id: string
      /** On the button. */
      readonly name: string
      /** `https://git.example.com`; what `/.well-known/openid-configuration` is below. */
      readonly issuer: string
      readonly clientId: string
      /** Who may log in: one of these has to fit; everybody whom the provider knows if there are none. */
      readonly allow: readonly ClaimRule[]
    }
  | {
      readonly kind: 'github'
      readonly id: string
      readonly name: string
      /** `https://github.com`, or a GitHub Enterprise Server. */
      readonly url: string
      readonly clientId: string
      /** Organisations (`acme`) and teams (`acme/backend`), of which one is needed; everybody on GitHub if there are none. */
      readonly allow: readonly string[]
    }

/** A claim that has to have a value, or have it in its list: `groups=backend`, `hd=example.com`. */
export interface ClaimRule {
  readonly claim: string
  readonly value: string
}

/** Undefined for a text that is no rule. */
export function toClaimRule(text: string): ClaimRule | undefined {
  const [, claim, value] = /^([A-Za-z_][\w:/.-]{0,99})=(.{1,200})$/.exec(text) ?? []
  // An address proves nothing: providers let people write what they like there.
  return claim === undefined || value === undefined || /^email/.test(claim) ? undefined : { claim, value }
}

/** The form of `acme` and `acme/backend`. */
export const isOrganisation = (text: string): boolean =>
  /^[A-Za-z0-9][\w.-]{0,99}(\/[A-Za-z0-9][\w.-]{0,99})?$/.test(text)

export const isAdmitted = (claims: Readonly<Record<string, unknown>>, rules: readonly ClaimRule[]): boolean =>
  rules.length === 0 ||
  rules.some(({ claim, value }) => {
    const found = Object.hasOwn(claims, claim) ? claims[claim] : undefined
    return found === value || (Array.isArray(found) && found.includes(value))
  })

/** What is shown of somebody, as a provider has it: one line of a length that fits into a record; undefined for none. */
export function shownText(value: unknown, longest = 100): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, longest)
  return text === '' ? undefined : text
}

/**
 * Where a browser goes after a login: a page of ours, or the first one for what is none. Other hosts, and
 * what is an action and no page, are no place to go.
 */
export function returnPath(text: unknown): string {
  if (typeof text !== 'string' || !/^\/[\w/.~%?&=:@+-]{0,500}$/.test(text) || text.startsWith('//')) return '/'
  const { pathname, search, origin } = new URL(text, 'https://page.invalid')
  return origin !== 'https://page.invalid' || /^\/(api|login|hooks)(\/|$)|^\/\//.test(pathname)
    ? '/'
    : pathname + search
}
