import type { NewWebhook, RepositoryWebhooks } from '../forge.ts'
import type { Calls, ForgeCall } from '../forge-module.ts'
import { addedWebhook } from './answers.validators.ts'
import { isRefused } from './failures.ts'

interface WebhookCalls {
  /** Path at which webhooks are listed and added. */
  readonly path: string
  /** Returns the body of the call that adds a webhook. */
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
        if (!isRefused(error, 404)) throw error
      }
    },
  }
}
