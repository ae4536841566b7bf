/** Refusal in the format of the Kubernetes API, which kubectl and helm print. */
export class Refusal extends Error {
  readonly status: number
  readonly reason: string

  constructor(status: number, reason: string, message: string) {
    super(message)
    this.status = status
    this.reason = reason
  }

  /** Body of the response: a `Status` object. */
  get body(): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      code: this.status,
    })
  }
}
