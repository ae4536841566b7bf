import type { ImageInput } from '../adapters/buildkit/builder.ts'
import { secretValues } from '../compiler/values/secrets/known-secrets.ts'

/**
 * Returns the secret values in the input of a build: secrets that are not read from files; the values of arguments and
 * cache options whose names look secret; and the logins in context URLs.
 */
export function secretsOfInput({
  context,
  contexts,
  args,
  secrets,
  cacheFrom,
  cacheTo,
}: ImageInput): readonly string[] {
  const named = [Object.fromEntries(args), ...[...cacheFrom, ...cacheTo].map(({ attributes }) => attributes)]
  return [
    ...[...secrets.values()].flatMap(source => ('value' in source ? secretsInText(source.value) : [])),
    ...named.flatMap(secretValues),
    ...[context, ...contexts.values()].flatMap(source => ('remote' in source ? loginIn(source.remote) : [])),
  ]
}

/** Minimum length of a line that is treated as a secret; shorter lines are too often ordinary words. */
const SHORTEST_LINE = 6
/** Patterns of values that a line assigns: `_authToken=…`, `"auth": "…"`. */
const SET = [/(?<==\s{0,3}["']?)[^\s"',;{}=][^\s"',;{}]{7,}/g, /(?<=:\s{1,3}["']?|:["'])[^\s"',;{}]{8,}/g]

/**
 * Returns the values to mask for the text of a secret: its lines, and the values that the lines assign, because a step
 * may print such a value alone.
 */
export function secretsInText(text: string): readonly string[] {
  const lines = text.split(/\r?\n|\r/).filter(line => line.trim() !== '')
  const whole = lines.length < 2 ? lines : lines.filter(line => line.trim().length >= SHORTEST_LINE)
  return [...whole, ...lines.flatMap(line => SET.flatMap(pattern => line.match(pattern) ?? []))]
}

/**
 * Returns the password of a URL, as written and percent-decoded; empty texts if there is none. In an HTTP URL without a
 * password, the user name counts as the password, because it is then a token.
 */
function loginIn(url: string): readonly string[] {
  const [, user = '', password] = /^[a-z][a-z0-9+.-]*:\/\/([^/@:]*)(?::([^/]*))?@/i.exec(url) ?? []
  const isHttp = /^https?:/i.test(url)
  const secret = password ?? (isHttp ? user : '')
  return [secret, decoded(secret)]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
