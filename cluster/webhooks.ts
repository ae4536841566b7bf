/** An admission webhook that a request failed for, in the server's words. */
export interface WebhookFailure {
  readonly name: string
  /** It answered, and said no; otherwise it cannot be reached, or did not answer in time. */
  readonly refuses: boolean
  /** Why; empty where it gave no reason. */
  readonly said: string
}

/** The webhook that a message of the API server names; undefined when it is about something else. */
export function webhookIn(message: string): WebhookFailure | undefined {
  const denied = /admission webhook "([^"]+)" denied the request(?: without explanation|: )?([\s\S]*)/.exec(message)
  if (denied) return { name: denied[1]!, refuses: true, said: denied[2]!.trim() }
  const failed = /failed calling webhook "([^"]+)": ([\s\S]*)/.exec(message)
  return failed ? { name: failed[1]!, refuses: false, said: failed[2]!.trim() } : undefined
}
