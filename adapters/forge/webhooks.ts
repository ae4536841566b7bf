import { addedWebhook } from './answers.validators.ts'
import { isGone } from './failures.ts'
import type { Abortable } from './forge.ts'
import type { Calls, ForgeCall } from './forge-module.ts'

/** What a forge is told: where it sends deliveries, and what it signs them with. */
export interface NewWebhook {
  readonly address: string
  readonly secret: string
}

/** The webhooks in the settings of one repository. Everything throws a ForgeError if the forge refuses or does not answer. */
export interface RepositoryWebhooks {
  /** Adds one that sends the events of requests, and gives its number. */
  add(webhook: NewWebhook, waiting?: Abortable): Promise<number>
  /** Removes one; it is no error if it is gone already. */
  remove(number: number, waiting?: Abortable): Promise<void>
}

interface WebhookCalls {
  /** Where they are listed and added. */
  readonly path: string
  /** What is sent for a new one. */
  readonly body: (webhook: NewWebhook) => unknown
  /** The rights that the token needs, in words. */
  readonly permission: string
}

/** All forges add and remove in the same way; what they are sent differs. */
export function webhooksAt(api: Calls, { path, body, permission }: WebhookCalls): RepositoryWebhooks {
  return {
    async add(webhook, { signal } = {}) {
      const call: ForgeCall = {
        method: 'POST',
        path,
        body: body(webhook),
        purpose: 'add a webhook',
        // There would be two.
        mayRepeat: false,
        permission,
        signal,
      }
      return (await api.object(call, addedWebhook)).id
    },

    async remove(number, { signal } = {}) {
      const purpose = 'remove the webhook'
      const one = `${path}/${number}`
      try {
        await api.send({ method: 'DELETE', path: one, purpose, mayRepeat: true, permission, signal })
      } catch (error) {
        if (!isGone(error)) throw error
      }
    },
  }
}
