/** Control characters, those that are not seen, and those that change the direction of the text after them. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

/** A name or a message of somebody else as one line that a terminal prints and does not obey: `a\u001b[2Jb`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
