import { useSignal } from '@preact/signals'
import type { DeviceLook } from '../../../api/auth.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { me } from '../../state/session.ts'
import { Frame } from './frame.tsx'

/** Lets in a command line on another machine, whose code is typed here: no link carries it. */
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
      <Frame title={answered.value ? 'Logged in' : 'Refused'}>
        <p class="soft">
          {answered.value ? 'Go back to your terminal; this page can be closed.' : 'The command line was not let in.'}
        </p>
      </Frame>
    )
  if (found.value)
    return (
      <Frame title="Log in a command line">
        <dl class="facts">
          <dt>Machine</dt>
          <dd>{found.value.label}</dd>
          <dt>Asked</dt>
          <dd>
            <Time at={found.value.created} />
          </dd>
          <dt>Gets in as</dt>
          <dd>{me.value?.login}</dd>
        </dl>
        <p class="soft">
          Allow it only if you have just started it yourself. It then acts with your rights for 30 days.
        </p>
        {answer.problem && <ProblemBox problem={answer.problem} />}
        <div class="stack">
          <Button look="solid" isBusy={answer.isRunning} onClick={() => void answer.run(true)}>
            Allow
          </Button>
          <Button onClick={() => void answer.run(false)}>Refuse</Button>
        </div>
      </Frame>
    )
  return (
    <Frame title="Log in a command line">
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          if (code.value.trim() !== '') void look.run()
        }}
      >
        <Field
          label="Code"
          hint="Your terminal shows it. Type a code only from a terminal of your own."
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
          Go on
        </Button>
      </form>
    </Frame>
  )
}
