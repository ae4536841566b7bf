import { CONDITION_SIGHT } from './masker.ts'
import { looksSecretName } from './secret-names.ts'

/**
 * The end of a text before a value: `=`, `:` (`admin:geheim`), a quote, a blank, a bracket, or the letter of an option.
 */
const BEFORE = /(?:^|[\s=:,;|"'`\\([{<>]|(?:^|[\s"'`])-[A-Za-z])$/
/** The beginning of a text after a value; a dot or a colon counts if it ends a word. */
const AFTER = /^(?:$|[\s=,;|&"'`\\)\]}<>]|[.:!?](?:$|[\s"'`\\)]))/
/** Escape sequences for colours, which stand between a value and the text around it. */
const COLOURS_BEFORE = /(?:\u001b\[[\d;:]*m)+$/
const COLOURS_AFTER = /^(?:\u001b\[[\d;:]*m)+/

/** Characters of a key and what stands between it and its value. */
const KEY_SIGHT = 80

/**
 * True if a stretch is all of a value, or the password in an address (`postgres://app:geheim@db`),
 * and no part of a name, a path or a host.
 */
export function isWholeValue(text: string, start: number, end: number): boolean {
  const before = textBefore(text, start, 64)
  const after = textAfter(text, end)
  // In a login, a token may replace the user name; after an image tag, `@` begins a digest.
  if (after.startsWith('@') && /:$|https?:\/\/$/.test(before)) return !after.startsWith('@sha256:')
  return (start === 0 || BEFORE.test(before)) && AFTER.test(after)
}

/** The kinds of what has a name in quotes: `deployment "shop"`. */
const KIND =
  /(?:service|deployment|statefulset|daemonset|job|cronjob|pod|container|configmap|claim|volume|network|namespace|ingress|project|environment|application|release|chart|image|repository|database|schema|table|role|user|host|file|directory|folder|path)(?:\.[a-z.]+)? ["'`]$/i

/**
 * True for a stretch of what programs print, or of a value of an object, that is all of a value and
 * also a name: no target of a mount, and not called a name (`service "shop"`).
 */
export function isValueNotName(text: string, start: number, end: number): boolean {
  if (!isWholeValue(text, start, end)) return false
  if (isPassword(text, end)) return true
  const before = textBefore(text, start, KEY_SIGHT)
  return !KIND.test(before) && !(/^[/.~]/.test(text.slice(start, end)) && /[^\s:]:$/.test(before))
}

/** The key of a value, with what may stand between the two. */
const KEY = /([A-Za-z][\w.-]*)["'`\\\]]*\s*[=:]\s*["'`\\]*$/
/** An option before its value, or the letter of one. */
const OPTION = /(?:^|[\s"'`,])--?([\w-]+)[\s"'`,]+$/
const LETTER = /(?:^|[\s"'`])-[A-Za-z]$/
/** `curl -u admin:`. */
const LOGIN = /(?:^|[\s"'`])(?:-u|--user)[\s="'`]+[^\s:"'`]+:$/
/** Keys whose values are the names of Secrets. */
const SECRET_REFERENCE = /^(?:secrets?|(?:tls|pull|imagePull)-?secrets?)$/i
/** Quotes from the log of a program in a message: a note that begins with a bar, also in JSON. */
const QUOTED_OUTPUT = [/note:\S* \| [^\n]*$/, /"\| (?:[^"\\\n]|\\.)*$/]

/**
 * Returns true if a stretch of a devctl message is a value, not the name that it equals: it is a password because of
 * its position in an address or a command, or because of its key, or it is quoted from a log.
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

/** True if a stretch that is all of a value is the password in an address. */
const isPassword = (text: string, end: number): boolean => textAfter(text, end).startsWith('@')

const textBefore = (text: string, start: number, length: number): string =>
  text.slice(Math.max(0, start - length), start).replace(COLOURS_BEFORE, '')

const textAfter = (text: string, end: number): string => text.slice(end, end + 64).replace(COLOURS_AFTER, '')
