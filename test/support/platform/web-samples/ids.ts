const LENGTH = 16

/** Returns an id as the platform has for users, tokens and webhooks: letters, and the digits 2 to 7. */
export const sampleId = (prefix: string, number: number): string =>
  prefix +
  [...number.toString(6)]
    .map(digit => Number(digit) + 2)
    .join('')
    .padStart(LENGTH - prefix.length, '2')
