import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

/** True if a URL is a web page. Other URLs never become links. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** Renders an external URL: as a link if it is a web page, otherwise as plain text. The link sends no referrer. */
export function OutsideLink({ href, children }: { readonly href: string; readonly children?: ComponentChildren }) {
  if (!isWebAddress(href)) return <span>{children ?? href}</span>
  return (
    <a class="link outside" href={href} target="_blank" rel="noopener noreferrer">
      {children ?? href.replace(/^https?:\/\//, '').replace(/\/$/, '')}
      <Icon name="open" size={12} />
      <span class="hidden"> (opens in a new tab)</span>
    </a>
  )
}
