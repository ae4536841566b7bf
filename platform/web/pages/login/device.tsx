import { useSignal } from '@preact/signals'
import { printable } from '../../../../compiler/values/printable.ts'
import type { DeviceLook } from '../../../api/auth.ts'
import { Button } from '../../parts/forms/button.tsx'
import { Field } from '../../parts/forms/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { me } from '../../state/session.ts'
import { Frame } from './frame.tsx'

/**
 * Renders the page that logs in devctl on the command line of another machine. The user has to type the code that this
 * command line shows, because a link must not contain the code.
 */
export function DeviceLogin() {
  const code = useSignal('')
  const found = useSignal<DeviceLook | undefined>(undefined)
  const answered = useSignal<boolean | undefined>(undefined)
  const look = useAction(async () => {
    found.value = await platform.call('POST /auth/device/look', { body: { code: code.value.trim() } })
  })
  const answer = useAction(async (isAllowed: boolean) => {
    await platform.call('POST /auth/device/answer', { body: { code: code.value.trim(), isAllowed } })
    answered.value = isAllowed
  })
  if (answered.value !== undefined)
    return (
      <Frame title={answered.value ? 'Logged in' : 'Denied'}>
        <p class="soft">
          {answered.value ? 'Return to your terminal. You can close this page.' : 'The command line is not logged in.'}
        </p>
      </Frame>
    )
  if (found.value)
    return (
      <Frame title="Log in to the command line">
        <dl class="facts">
          <dt>Machine</dt>
          <dd>{printable(found.value.label)}</dd>
          <dt>Requested</dt>
          <dd>
            <Time at={found.value.created} />
          </dd>
          <dt>Logs in as</dt>
          <dd>{me.value?.login}</dd>
        </dl>
        <p class="soft">
          Allow this only if you have just started it yourself. The command line then acts with your rights for 30 days.
        </p>
        {answer.problem && <ProblemBox problem={answer.problem} />}
        <div class="stack">
          <Button look="solid" isBusy={answer.isRunning} onClick={() => void answer.run(true)}>
            Allow
          </Button>
          <Button onClick={() => void answer.run(false)}>Deny</Button>
        </div>
      </Frame>
    )
  return (
    <Frame title="Log in to the command line">
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          if (code.value.trim() !== '') void look.run()
        }}
      >
        <Field
          label="Code"
          hint="Shown in your terminal. Only enter a code from a terminal of your own."
          value={code.value}
          onValue={value => {
            code.value = value.toUpperCase()
          }}
          maxLength={20}
          look="code"
          required
        />
        {look.problem && <ProblemBox problem={look.problem} />}
        <Button type="submit" look="solid" isBusy={look.isRunning} disabled={code.value.trim() === ''}>
          Continue
        </Button>
      </form>
    </Frame>
  )
}
