/**
 * Returns a token, password or sealed text with one character changed. The last characters stay: in Base64 some of
 * their bits mean nothing, and a fixed replacement could equal the existing character.
 */
export const altered = (text: string): string =>
  `${text.slice(0, -4)}${text.at(-4) === 'A' ? 'B' : 'A'}${text.slice(-3)}`
