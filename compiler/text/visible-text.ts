/** Matches control characters, invisible characters, and characters that change the direction of the following text. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/**
 * Returns a name or message from another program as a single line without control sequences that a terminal would
 * execute: `a\u001b[2Jb`.
 */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
