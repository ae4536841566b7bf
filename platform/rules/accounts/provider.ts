/** A configured identity provider, without its client secret. */
export type ProviderSettings =
  | {
      readonly kind: 'oidc'
      /** Id of the provider, which is part of the provider's paths, such as `/login/oidc`. */
      readonly id: string
      /** Label of the login button of the provider. */
      readonly name: string
      /**
       * The issuer, such as `https://git.example.com`. Its metadata is at `/.well-known/openid-configuration` below
       * this URL.
       */
      readonly issuer: string
      readonly clientId: string
      /**
       * Rules for who may log in. At least one rule has to match; if there are no rules, every user of the provider may
       * log in.
       */
      readonly allow: readonly ClaimRule[]
    }
  | {
      readonly kind: 'github'
      readonly id: string
      readonly name: string
      /** URL of the server: `https://github.com`, or a GitHub Enterprise Server. */
      readonly url: string
      readonly clientId: string
      /**
       * Organizations (`acme`) and teams (`acme/backend`). Membership in one of them is required; if the list is empty,
       * every GitHub user may log in.
       */
      readonly allow: readonly string[]
    }

/** A claim that has to equal, or contain, a value: `groups=backend`, `hd=example.com`. */
export interface ClaimRule {
  readonly claim: string
  readonly value: string
}

/** Parses a rule; undefined if the text is not one. */
export function toClaimRule(text: string): ClaimRule | undefined {
  const [, claim, value] = /^([A-Za-z_][\w:/.-]{0,99})=(.{1,200})$/.exec(text) ?? []
  // Rules about email addresses are refused, because providers let users enter any address.
  return claim === undefined || value === undefined || /^email/.test(claim) ? undefined : { claim, value }
}

/** True for an organization or team, such as `acme` or `acme/backend`. */
export const isOrganisation = (text: string): boolean =>
  /^[A-Za-z0-9][\w.-]{0,99}(\/[A-Za-z0-9][\w.-]{0,99})?$/.test(text)

export const isAdmitted = (claims: Readonly<Record<string, unknown>>, rules: readonly ClaimRule[]): boolean =>
  rules.length === 0 ||
  rules.some(({ claim, value }) => {
    const found = Object.hasOwn(claims, claim) ? claims[claim] : undefined
    return found === value || (Array.isArray(found) && found.includes(value))
  })

/**
 * Converts a text from another program, such as a display name from a provider, to a single line of at most `longest`
 * characters, which fits into a record. Returns undefined if the value is not a text, or if nothing remains.
 */
export function shownText(value: unknown, longest = 100): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
    .trim()
    .slice(0, longest)
    // Removes half of a surrogate pair at the end, if the text was truncated inside it.
    .replace(/\p{Cs}$/u, '')
  return text === '' ? undefined : text
}

/**
 * Returns the path that a browser opens after a login: the given path if it is a page of the platform, otherwise the
 * start page. Other hosts, and paths that are not pages, are not allowed.
 */
export function returnPath(text: unknown): string {
  if (typeof text !== 'string' || !/^\/[\w/.~%?&=:@+-]{0,500}$/.test(text) || text.startsWith('//')) return '/'
  const { pathname, search, origin } = new URL(text, 'https://page.invalid')
  return origin !== 'https://page.invalid' || /^\/(api|login|hooks)(\/|$)|^\/\//.test(pathname)
    ? '/'
    : pathname + search
}

/**
 * Returns the URL of an issuer's metadata: https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
 */
export const discoveryUrl = (issuer: string): string => `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
