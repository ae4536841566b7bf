import { CONDITION_SIGHT } from './masker.ts'
import { looksSecretName } from './secret-names.ts'

/**
 * Matches the text before a value: `=`, `:` (`admin:geheim`), a quote, a blank, a bracket, or the letter of an option.
 */
const BEFORE = /(?:^|[\s=:,;|"'`\\([{<>]|(?:^|[\s"'`])-[A-Za-z])$/
/** Matches the text after a value. A dot or a colon counts if it ends a word. */
const AFTER = /^(?:$|[\s=,;|&"'`\\)\]}<>]|[.:!?](?:$|[\s"'`\\)]))/
/** Escape sequences for colors, which may be between a value and the surrounding text. */
const COLOURS_BEFORE = /(?:\u001b\[[\d;:]*m)+$/
const COLOURS_AFTER = /^(?:\u001b\[[\d;:]*m)+/

/** Maximum number of characters in a key and in the text between the key and its value. */
const KEY_SIGHT = 80

/**
 * Returns true if a range is an entire value or the password in an address (`postgres://app:geheim@db`), and not part
 * of a name, a path or a host.
 */
export function isWholeValue(text: string, start: number, end: number): boolean {
  const before = textBefore(text, start, 64)
  const after = textAfter(text, end)
  // A token may replace the user name in a URL. After an image tag, `@` starts a digest.
  if (after.startsWith('@') && /:$|https?:\/\/$/.test(before)) return !after.startsWith('@sha256:')
  return (start === 0 || BEFORE.test(before)) && AFTER.test(after)
}

/** Matches the kind of an object and the opening quote of the name that follows: `deployment "shop"`. */
const KIND =
  /(?:service|deployment|statefulset|daemonset|job|cronjob|pod|container|configmap|claim|volume|network|namespace|ingress|project|environment|application|release|chart|image|repository|database|schema|table|role|user|host|file|directory|folder|path)(?:\.[a-z.]+)? ["'`]$/i

/**
 * Returns true if a range in program output or in an object's value is an entire value, although its text is also a
 * name. Excludes mount targets, and words that the text calls a name (`service "shop"`).
 */
export function isValueNotName(text: string, start: number, end: number): boolean {
  if (!isWholeValue(text, start, end)) return false
  if (isPassword(text, end)) return true
  const before = textBefore(text, start, KEY_SIGHT)
  return !KIND.test(before) && !(/^[/.~]/.test(text.slice(start, end)) && /[^\s:]:$/.test(before))
}

/** Matches the key before a value, and the text between the key and the value. */
const KEY = /([A-Za-z][\w.-]*)["'`\\\]]*\s*[=:]\s*["'`\\]*$/
/** Matches an option before its value. */
const OPTION = /(?:^|[\s"'`,])--?([\w-]+)[\s"'`,]+$/
const LETTER = /(?:^|[\s"'`])-[A-Za-z]$/
/** Matches a login option with its user: `curl -u admin:`. */
const LOGIN = /(?:^|[\s"'`])(?:-u|--user)[\s="'`]+[^\s:"'`]+:$/
/** Keys whose values are names of Secrets. */
const SECRET_REFERENCE = /^(?:secrets?|(?:tls|pull|imagePull)-?secrets?)$/i
/** Matches the start of a log line quoted in a message: a note that starts with a bar, also in JSON. */
const QUOTED_OUTPUT = [/note:\S* \| [^\n]*$/, /"\| (?:[^"\\\n]|\\.)*$/]

/**
 * Returns true if a range of a devctl message is a secret value, although its text is also a name: a password in an
 * address or a command, the value of a secret key, or a value in a quoted log line.
 */
export function isSecretByPlace(text: string, start: number, end: number): boolean {
  if (!isWholeValue(text, start, end)) return false
  const before = textBefore(text, start, KEY_SIGHT)
  if (isPassword(text, end) || LETTER.test(before) || LOGIN.test(before)) return true
  const key = KEY.exec(before)?.[1] ?? OPTION.exec(before)?.[1]
  if (key !== undefined && looksSecretName(key) && !SECRET_REFERENCE.test(key)) return true
  const quoted = textBefore(text, start, CONDITION_SIGHT)
  return QUOTED_OUTPUT.some(one => one.test(quoted)) && isValueNotName(text, start, end)
}

/** True if a range, which must be an entire value, is the password in an address. */
const isPassword = (text: string, end: number): boolean => textAfter(text, end).startsWith('@')

const textBefore = (text: string, start: number, length: number): string =>
  text.slice(Math.max(0, start - length), start).replace(COLOURS_BEFORE, '')

const textAfter = (text: string, end: number): string => text.slice(end, end + 64).replace(COLOURS_AFTER, '')
