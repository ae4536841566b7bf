import { useSignal } from '@preact/signals'
import { printable } from '../../../../compiler/values/printable.ts'
import type { NamespaceDetails } from '../../../api/namespaces.ts'
import { addressOf } from '../../../api/pages.ts'
import { Button } from '../../parts/forms/button.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { InlineCode, ProblemBox, sentence } from '../../parts/problem.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { navigate } from '../../state/navigate.ts'
import { type Read, refreshAll } from '../../state/resource.ts'
import { isAdmin } from '../../state/session.ts'
import { commandLine } from '../../state/shell-words.ts'
import { toast } from '../../state/toasts.ts'

interface DeleteFailedProps {
  readonly namespace: NamespaceDetails
  readonly of: Read<NamespaceDetails>
}

/** Shows why a namespace could not be deleted, and what its owner can do about it. */
export function DeleteFailed({ namespace: { name, kind, role, deleteProblem }, of }: DeleteFailedProps) {
  const isAsked = useSignal(false)
  const again = useAction(async () => {
    await platform.call('DELETE /namespaces/:ns', { params: { ns: name }, query: {} })
    await of.refresh()
    refreshAll()
  })
  const anyway = useAction(async () => {
    await platform.call('DELETE /namespaces/:ns', { params: { ns: name }, query: { force: 'true' } })
    toast('good', `Deleting ${name}`)
    refreshAll()
    navigate(addressOf('home'))
  })
  const words = kind === 'preview' ? ['preview', 'destroy'] : ['namespace', 'delete']
  return (
    <section class="list" aria-label="Deletion problem">
      <div class="diagnostic">
        <Icon name="warn" />
        <div class="stack tight">
          <p class="strong">This namespace could not be deleted</p>
          <p>
            <InlineCode text={sentence(printable(deleteProblem ?? 'its environments could not be destroyed'))} />
          </p>
          <p class="soft">No new runs start. Its environments stay until it is deleted.</p>
          {again.problem && <ProblemBox problem={again.problem} />}
          {(role === 'owner' || isAdmin.value) && (
            <div class="actions">
              <Button icon="refresh" isBusy={again.isRunning} onClick={() => void again.run()}>
                Try again
              </Button>
              <Button
                look="danger-plain"
                icon="trash"
                onClick={() => {
                  isAsked.value = true
                }}
              >
                Delete anyway
              </Button>
            </div>
          )}
        </div>
      </div>
      {isAsked.value && (
        <FormDialog
          title={`Delete ${name} anyway?`}
          action="Delete anyway"
          isDanger
          isBusy={anyway.isRunning}
          problem={anyway.problem}
          command={commandLine('devctl', ...words, name, '--force')}
          onClose={() => {
            isAsked.value = false
          }}
          onSubmit={() => void anyway.run()}
        >
          <p class="soft">
            This skips the <code>destroy</code> commands of its environments, so whatever they would remove outside the
            cluster stays, and removes the finalizers of other programs. Everything in the namespace is deleted,
            including its data.
          </p>
        </FormDialog>
      )}
    </section>
  )
}
