/**
 * Errors of an image pull that is likely to succeed at a later attempt, because only the registry or the connection to
 * it is slow or overloaded. The patterns cover the messages of containerd, CRI-O, the Docker Engine and Go's network
 * packages: `unexpected status from HEAD request to https://…: 429 Too Many Requests`, `toomanyrequests: You have
 * reached your pull rate limit`, `received unexpected HTTP status: 503 Service Unavailable`, `dial tcp …: i/o timeout`,
 * `net/http: TLS handshake timeout`. A missing tag, a rejected login and an unknown host do not match.
 */
const PASSING_PULL = [
  /\bstatus\b.*: (?:429|5\d\d)\b|\bstatus(?: code)? (?:429|5\d\d)\b|\b429 Too Many Requests|\btoo ?many ?requests\b/i,
  /\b5\d\d (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)|\bregistry ?(?:is )?unavailable\b/i,
  /\brate limit|\bpull QPS exceeded/i,
  /\btimed? ?-?out\b|\bTimeout exceeded\b|\bdeadline exceeded\b|\bcontext canceled\b|\bDeadlineExceeded\b/i,
  /\bconnection reset\b|\bunexpected EOF\b|: EOF$|\bbroken pipe\b|\bstream error\b|\bGOAWAY\b/i,
  /\bserver misbehaving\b|\btemporary failure in name resolution\b|\bno route to host\b|\bnetwork is unreachable\b/i,
]

/**
 * Returns true if another pull may succeed, because the failed pull took too long, or the registry was overloaded or
 * broken.
 */
export const isPassingPull = (message: string): boolean => PASSING_PULL.some(pattern => pattern.test(message))

/** gRPC codes with which a driver reports that it is still busy, or has no capacity at the moment. */
const PASSING_CODE = /\bcode = (?:DeadlineExceeded|Unavailable|Aborted|Canceled|ResourceExhausted)\b/

/**
 * Returns true if a volume driver may succeed later: the driver is slow or busy with the same volume, or the volume is
 * not attached yet, or still attached to another node.
 */
export const isPassingVolume = (message: string): boolean =>
  PASSING_CODE.test(message) ||
  /\btimed? ?out\b|\bdeadline exceeded\b|Multi-Attach|\bnot (?:yet )?(?:been )?attached\b|\boperation .* (?:is )?(?:already exists|pending)/i.test(
    message,
  )

/**
 * Returns true if the runtime of a node may create the container at the next attempt, because the failed attempt only
 * took too long.
 */
export const isPassingCreation = (message: string): boolean =>
  /\bdeadline exceeded\b|\bcontext canceled\b|\bis reserved for\b|\bcode = Unavailable\b/i.test(message)
