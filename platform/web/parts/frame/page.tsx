import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { Icon } from '../icon.tsx'
import type { Tone } from '../state.tsx'

interface PageProps {
  readonly title: string
  /** Title of the window, if it differs from the page's title. */
  readonly windowTitle?: string
  /** State to show in the browser tab before the title. */
  readonly tone?: Tone | undefined
  readonly crumbs?: readonly (readonly [text: string, address: string])[]
  /** Content next to the title. */
  readonly beside?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly tabs?: ComponentChildren
  readonly children: ComponentChildren
}

/** Marks in the title of the browser tab. The tones `good` and `quiet` have none. */
const MARKS: Readonly<Partial<Record<Tone, string>>> = { bad: '⚠', warn: '⚠', busy: '…' }

/** Renders a page of the UI: its path in the navigation, title, actions, and content. */
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
/**
 * True after the first page of a visit. A later page focuses its heading; on the first page, the browser determines the
 * focus.
 */
let wasOpened = false

/** Renders tabs for related pages: each tab is a link. */
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

/** Renders a section of a page with its own title. */
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
