/** Control characters, those that are not seen, and those that change the direction of the text after them. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/**
 * Returns a name or a message from another program as a single line that a terminal prints instead of obeying:
 * `a\u001b[2Jb`.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
