import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { Failure } from '../../state/problem.ts'
import { SameOnCommandLine } from '../copy.tsx'
import { ProblemBox } from '../problem.tsx'
import { Button } from './button.tsx'
import { useModal } from './modal.ts'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/**
 * Renders a dialog over the page. The browser keeps the focus inside it and restores the previous focus when it closes.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const { ref, close } = useModal(onClose)
  const id = useId()
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; by keyboard, Escape does
    <dialog ref={ref} class="dialog" aria-labelledby={id} onClick={event => event.target === ref.current && close()}>
      <div class="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

interface FormDialogProps extends DialogProps {
  readonly action: string
  readonly isDanger?: boolean
  readonly isBusy: boolean
  readonly isReady?: boolean
  readonly problem: Failure | undefined
  /** Equivalent command on the command line. */
  readonly command?: string | undefined
  readonly onSubmit: () => void
}

/**
 * Renders a dialog for a single task: its fields, the problem of the last attempt, the equivalent command, and two
 * buttons.
 */
export function FormDialog(props: FormDialogProps) {
  const { title, onClose, children, action, isDanger, isBusy, isReady = true, problem, command, onSubmit } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={event => {
          event.preventDefault()
          if (isReady && !isBusy) onSubmit()
        }}
      >
        {children}
        {problem && <ProblemBox problem={problem} />}
        {command !== undefined && <SameOnCommandLine command={command} />}
        <div class="dialog-actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={isDanger ? 'danger' : 'solid'} isBusy={isBusy} disabled={!isReady}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
