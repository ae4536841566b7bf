import type { Signal } from '@preact/signals'
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact'
import { Icon, type IconName } from '../icon.tsx'

type Look = 'solid' | 'plain' | 'ghost' | 'danger' | 'danger-plain'

interface ButtonProps {
  readonly look?: Look
  readonly icon?: IconName
  readonly isBusy?: boolean
  readonly children?: ComponentChildren
}

/** Renders a button. While it is busy, it keeps its width and cannot be pressed again. */
export function Button({
  look = 'plain',
  icon,
  isBusy = false,
  children,
  onClick,
  type = 'button',
  ...rest
}: ButtonProps & Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'icon'>) {
  return (
    <button
      {...rest}
      type={type}
      class={`button ${look}${isBusy ? ' is-busy' : ''}${children === undefined ? ' only-icon' : ''}`}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? event => event.preventDefault() : onClick}
    >
      {isBusy ? <Icon name="spin" /> : icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  )
}

interface NewButtonProps {
  /** True while the form is open. */
  readonly isOpen: Signal<boolean>
  readonly children: string
}

/** Renders the button that opens the form for something new. */
export const NewButton = ({ isOpen, children }: NewButtonProps) => (
  <Button
    look="solid"
    icon="plus"
    onClick={() => {
      isOpen.value = true
    }}
  >
    {children}
  </Button>
)

/** Renders a link to a page that looks like a button. */
export const ButtonLink = ({
  look = 'plain',
  icon,
  href,
  children,
}: ButtonProps & { readonly href: string; readonly children: ComponentChildren }) => (
  <a class={`button ${look}`} href={href}>
    {icon && <Icon name={icon} />}
    <span>{children}</span>
  </a>
)
