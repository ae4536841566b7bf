import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { Icon } from '../icon.tsx'
import type { Tone } from '../state.tsx'

interface PageProps {
  readonly title: string
  /** Title of the window, if it differs. */
  readonly windowTitle?: string
  /** State that the browser tab shows before its title. */
  readonly tone?: Tone | undefined
  readonly crumbs?: readonly (readonly [text: string, address: string])[]
  /** Content next to the title. */
  readonly beside?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly tabs?: ComponentChildren
  readonly children: ComponentChildren
}

/** The tab of what is well, or rests, has none. */
const MARKS: Readonly<Partial<Record<Tone, string>>> = { bad: '⚠', warn: '⚠', busy: '…' }

/** A page of the UI: where it is, its title, what can be done, and its content. */
export function Page(props: PageProps) {
  const { title, windowTitle, tone, crumbs = [], beside, actions, tabs, children } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const { path } = useLocation()
  useEffect(() => {
    const mark = tone && MARKS[tone]
    document.title = `${mark === undefined ? '' : `${mark} `}${windowTitle ?? title} · devctl`
  }, [title, windowTitle, tone])
  useEffect(() => {
    // Keyboard users continue from the heading, and screen readers announce it.
    if (wasOpened) heading.current?.focus({ preventScroll: true })
    wasOpened = true
  }, [path])
  return (
    <div class="page">
      <header class="page-head">
        {crumbs.length > 0 && (
          <nav aria-label="Breadcrumb" class="crumbs">
            {crumbs.map(([text, address], index) => (
              <span key={address}>
                {index > 0 && <Icon name="right" size={12} />}
                <a href={address}>{text}</a>
              </span>
            ))}
          </nav>
        )}
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {beside}
          {actions && <div class="actions">{actions}</div>}
        </div>
        {tabs}
      </header>
      {children}
    </div>
  )
}
/** The first page of a visit keeps the browser's own focus. */
let wasOpened = false

/** Pages beside each other, as tabs: each is a link with an address. */
export function Tabs({
  label,
  items,
}: {
  readonly label: string
  readonly items: readonly (readonly [text: string, address: string])[]
}) {
  const { path } = useLocation()
  return (
    <nav aria-label={label} class="tabs">
      {items.map(([text, address]) => (
        <a key={address} href={address} aria-current={path === address ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  )
}

/** A part of a page with a title of its own. */
export const Section = ({
  title,
  about,
  actions,
  isDanger = false,
  children,
}: {
  readonly title: string
  readonly about?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly isDanger?: boolean
  readonly children: ComponentChildren
}) => (
  <section class={isDanger ? 'section danger-zone' : 'section'}>
    <header class="section-head">
      <div>
        <h2>{title}</h2>
        {about !== undefined && <p class="soft">{about}</p>}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </header>
    {children}
  </section>
)
