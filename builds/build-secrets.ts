import type { ImageInput } from '../adapters/buildkit/builder.ts'
import { secretValues } from '../compiler/values/secrets/known-secrets.ts'

/**
 * The secret values in the input of a build: secrets that are not files, arguments and options of
 * caches whose names say that they are secret, and the logins in the URLs of contexts.
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

/** Shorter lines of a text are too often words. */
const SHORTEST_LINE = 6
/** Patterns of the values that a line sets: `_authToken=…`, `"auth": "…"`. */
const SET = [/(?<==\s{0,3}["']?)[^\s"',;{}=][^\s"',;{}]{7,}/g, /(?<=:\s{1,3}["']?|:["'])[^\s"',;{}]{8,}/g]

/** The secrets in the text of one: its lines, and the values that they set, which a step may print alone. */
export function secretsInText(text: string): readonly string[] {
  const lines = text.split(/\r?\n|\r/).filter(line => line.trim() !== '')
  const whole = lines.length < 2 ? lines : lines.filter(line => line.trim().length >= SHORTEST_LINE)
  return [...whole, ...lines.flatMap(line => SET.flatMap(pattern => line.match(pattern) ?? []))]
}

/**
 * Returns the password of a URL, as written and percent-decoded. In an HTTP URL without a password, the user name is
 * the token.
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
