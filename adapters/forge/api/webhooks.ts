import type { NewWebhook, RepositoryWebhooks } from '../forge.ts'
import type { Calls, ForgeCall } from '../forge-module.ts'
import { addedWebhook } from './answers.validators.ts'
import { isRefused } from './failures.ts'

interface WebhookCalls {
  /** Path at which webhooks are listed and added. */
  readonly path: string
  /** Returns the body of the call that adds a webhook. */
  readonly body: (webhook: NewWebhook) => unknown
  /** Permissions that the token needs, in words. */
  readonly permission: string
}

/** Returns access to webhooks. All forges add and remove them in the same way, but the request bodies differ. */
export function webhooksAt(api: Calls, { path, body, permission }: WebhookCalls): RepositoryWebhooks {
  return {
    async add(webhook, { signal } = {}) {
      const call: ForgeCall = {
        method: 'POST',
        path,
        body: body(webhook),
        purpose: 'add a webhook',
        // Repeating the call could create a second webhook.
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
