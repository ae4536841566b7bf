// Builders report registry responses as text without codes, so this file matches the texts of BuildKit, containerd and
// Docker Engine.

/**
 * Classifies a registry error by its text: `transient` if a retry may succeed, otherwise `final`. Undefined if the
 * error is not about a registry.
 */
export function registryAnswer(details: string): 'transient' | 'final' | undefined {
  const status = /status(?: code)?:? ([45]\d\d)\b|(?:status|returned)[^\n]*?: ([45]\d\d) [A-Z]|HTTP ([45]\d\d) response/
    .exec(details)
    ?.slice(1)
    .find(Boolean)
  if (status) return status === '429' || status === '408' || status.startsWith('5') ? 'transient' : 'final'
  if (/toomanyrequests|too many requests|(?:500 Internal|502 Bad|503 Service|504 Gateway)/i.test(details))
    return 'transient'
  if (/access denied|insufficient_scope|authorization failed|unauthorized|denied:/i.test(details)) return 'final'
  if (!/failed to (?:push|do request|copy|authorize|resolve|fetch)/i.test(details)) return undefined
  const isCut = /i\/o timeout|connection refused|connection reset|\bEOF\b|TLS handshake timeout|broken pipe/i.test(
    details,
  )
  return isCut ? 'transient' : 'final'
}

/** Returns the text of a registry error without the addresses of blobs and connections, which do not help the user. */
export const shortRegistryText = (details: string): string =>
  details
    .replace(/unexpected status from \w+ request to \S+: (?=[45]\d\d)/, 'the registry answers ')
    .replace(/received unexpected HTTP status: (?=[45]\d\d)/, 'the registry answers ')
    .replace(/error parsing HTTP ([45]\d\d) response body: .*$/s, 'the registry answers $1')
    .replace(/failed to do request: \w+ "[^"]*": /, '')
    .replace(/\b(?:read|write|dial) tcp(?: \S+?)?: (?:(?:read|write|connect): )?/, '')
