import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { toast } from '../state/toasts.ts'
import { Icon } from './icon.tsx'

/** Time for which a button shows that it has copied, in milliseconds. */
const SEEN = 1_600

/** Renders a button that copies a text, and confirms it with another icon. */
function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const isDone = useSignal(false)
  useEffect(() => {
    if (!isDone.value) return
    const timer = setTimeout(() => {
      isDone.value = false
    }, SEEN)
    return () => clearTimeout(timer)
  }, [isDone.value])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      isDone.value = true
    } catch {
      toast('bad', 'Your browser blocked copying', 'Select the text and copy it.')
    }
  }
  return (
    <button type="button" class={`copy${isDone.value ? ' is-done' : ''}`} onClick={copy} aria-label={`Copy ${label}`}>
      <Icon name={isDone.value ? 'check' : 'copy'} />
      <span class="hidden" role="status">
        {isDone.value ? 'Copied' : ''}
      </span>
    </button>
  )
}

/** Renders lines for a terminal exactly as the user pastes them. */
export const Command = ({ lines }: { readonly lines: readonly string[] }) => (
  <CopyBox lines={lines} label={lines.length === 1 ? 'command' : 'commands'} look="command" />
)

/** Renders lines that the user copies to another place. */
export const CopyBox = ({
  lines,
  label,
  look = 'value',
}: {
  readonly lines: readonly string[]
  readonly label: string
  readonly look?: 'command' | 'value'
}) => (
  <div class={`copy-box ${look}`}>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled, by keyboard too */}
    {/* biome-ignore lint/a11y/useSemanticElements: it is no form */}
    <pre tabIndex={0} role="group" aria-label={label}>
      {lines.map(line => (
        <code key={line}>{line}</code>
      ))}
    </pre>
    <CopyButton text={lines.join('\n')} label={label} />
  </div>
)

/** Renders the command that is equivalent to an action, below its button. */
export const SameOnCommandLine = ({ command }: { readonly command: string }) => (
  <p class="same">
    <Icon name="terminal" size={14} />
    <code>{command}</code>
    <CopyButton text={command} label={`command ${command}`} />
  </p>
)
