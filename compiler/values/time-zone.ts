/**
 * Returns a hint if a name is not in the IANA time zone database in this spelling; undefined if it is. Kubernetes
 * distinguishes upper and lower case, and refuses offsets.
 */
export function findTimeZoneFault(name: string): string | undefined {
  const general = 'write a name of the IANA time zone database, such as `Europe/Berlin` or `UTC`'
  if (/^[+-]|:/.test(name)) return general
  try {
    const known = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone
    const isOtherCase = known.toLowerCase() === name.toLowerCase() && known !== name
    return isOtherCase ? `write \`${known}\`` : undefined
  } catch {
    return general
  }
}
