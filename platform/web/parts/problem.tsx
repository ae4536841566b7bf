import type { ComponentChildren } from 'preact'
import { printable } from '../../../compiler/values/printable.ts'
import type { Failure } from '../state/problem.ts'
import { Button } from './forms/button.tsx'
import { LoginAgain } from './forms/login-again.tsx'
import { Icon, type IconName } from './icon.tsx'

/** Shows a problem as the platform describes it. */
export const ProblemBox = ({ problem, onRetry }: { readonly problem: Failure; readonly onRetry?: () => void }) => (
  <div class="problem" role="alert">
    <Icon name="warn" />
    <div class="stack tight">
      <p>
        <InlineCode text={sentence(problem.message)} />
      </p>
      {problem.notes?.map(note => (
        <p class="soft" key={note}>
          <InlineCode text={note} />
        </p>
      ))}
      {problem.hint !== undefined && (
        <p class="soft">
          <InlineCode text={sentence(problem.hint)} />
        </p>
      )}
      {problem.kind === 'login' && (
        <p>
          <LoginAgain />, then continue here.
        </p>
      )}
      {onRetry && (
        <p>
          <Button icon="refresh" onClick={onRetry}>
            Try again
          </Button>
        </p>
      )}
    </div>
  </div>
)

/** Renders text with the parts in backticks as code. Unsafe characters are escaped, as in a terminal. */
export const InlineCode = ({ text }: { readonly text: string }) => (
  <>
    {printable(text)
      .split(/(`[^`]+`)/)
      .map((part, index) =>
        part.startsWith('`') && part.length > 2 ? <code key={index}>{part.slice(1, -1)}</code> : part,
      )}
  </>
)

/** Capitalizes a message: messages begin in lower case for a terminal, but are sentences here. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Renders the box for a list or page without content: a title, and instructions on how to begin. */
export const Empty = ({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) => (
  <div class="empty">
    <span class="empty-icon">
      <Icon name={icon} size={20} />
    </span>
    <p class="strong">{title}</p>
    {children}
  </div>
)
