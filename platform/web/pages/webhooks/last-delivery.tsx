import { printable } from '../../../../compiler/values/printable.ts'
import type { Webhook } from '../../../api/hooks.ts'
import { InlineCode } from '../../parts/problem.tsx'
import { type ShownState, State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

const STATES: Readonly<Record<NonNullable<Webhook['lastDelivery']>['result'], ShownState>> = {
  accepted: { tone: 'good', icon: 'check', word: 'Accepted' },
  ignored: { tone: 'quiet', icon: 'ring', word: 'Ignored' },
  refused: { tone: 'bad', icon: 'warn', word: 'Refused' },
}

/**
 * Shows the last delivery that was signed with the secret of the webhook. If a delivery without a valid signature has
 * arrived since, shows the time of the last such delivery above.
 */
export const LastDelivery = ({ hook: { lastDelivery: last, lastUnsigned } }: { readonly hook: Webhook }) => {
  const isUnsignedLast = lastUnsigned !== undefined && (!last || Date.parse(lastUnsigned) > Date.parse(last.time))
  return (
    <>
      {isUnsignedLast && (
        <p class="last-delivery">
          <State {...STATES.refused} /> <Time at={lastUnsigned} />: not signed with the secret of the webhook. Set its
          secret on the forge, or remove the webhook and add it again.
        </p>
      )}
      {last && (
        <p class="last-delivery">
          <State {...STATES[last.result]} /> <Time at={last.time} />
          {last.event !== undefined && (
            <>
              {' '}
              · <code>{printable(last.event)}</code>
            </>
          )}
          {last.number !== undefined && ` · pull request ${last.number}`}
          {last.reason !== undefined && (
            <>
              : <InlineCode text={printable(last.reason)} />
            </>
          )}
        </p>
      )}
      {!last && !isUnsignedLast && <span class="soft">None yet</span>}
    </>
  )
}
