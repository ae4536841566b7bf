import { useSignal } from '@preact/signals'
import type { TokenInfo } from '../../../api/me.ts'
import { Button } from '../../parts/forms/button.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { toast } from '../../state/toasts.ts'

interface DeleteTokenProps {
  readonly token: TokenInfo
  readonly word: 'End' | 'Delete'
  readonly onDeleted: () => void
}

/** Ends a session or deletes a token, after a confirmation. */
export function DeleteToken({ token: { id, label }, word, onDeleted }: DeleteTokenProps) {
  const isAsked = useSignal(false)
  const remove = useAction(async () => {
    await platform.call('DELETE /me/tokens/:id', { params: { id } })
    isAsked.value = false
    toast('good', word === 'End' ? `Ended the session ${label}` : `Deleted the token ${label}`)
    onDeleted()
  })
  const close = () => {
    isAsked.value = false
  }
  return (
    <>
      <Button
        onClick={() => {
          isAsked.value = true
        }}
        aria-label={`${word} ${label}`}
      >
        {word}
      </Button>
      {isAsked.value && (
        <FormDialog
          title={`${word} ${label}?`}
          action={word}
          isDanger
          isBusy={remove.isRunning}
          problem={remove.problem}
          onClose={close}
          onSubmit={() => void remove.run()}
        >
          <p class="soft">Anything that uses it loses access to the platform and the cluster.</p>
        </FormDialog>
      )}
    </>
  )
}
