/** Returns true if a text is an IPv4 address of four decimal numbers without leading zeros. */
export function isIPv4(text: string): boolean {
  const parts = text.split('.')
  return parts.length === 4 && parts.every(part => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255)
}

/** Returns true if a text is an IPv6 address without brackets and without a zone. */
export function isIPv6(text: string): boolean {
  const halves = text.split('::')
  if (halves.length > 2) return false
  let groups = 0
  for (const [index, half] of halves.entries()) {
    if (half === '') continue
    const parts = half.split(':')
    const last = parts.at(-1)!
    if (last.includes('.')) {
      if (index !== halves.length - 1 || !isIPv4(last)) return false
      parts.splice(-1, 1, '0', '0')
    }
    if (!parts.every(part => /^[0-9a-fA-F]{1,4}$/.test(part))) return false
    groups += parts.length
  }
  return halves.length === 2 ? groups <= 7 : groups === 8
}

/** Returns true if a text is an IPv4 or IPv6 address. */
export const isIp = (text: string): boolean => isIPv4(text) || isIPv6(text)
