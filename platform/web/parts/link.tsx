import type { ComponentChildren } from 'preact'
import { Icon } from './icon.tsx'

/** Returns true if an address is a web page: no other address becomes a link. */
export function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/**
 * An address from outside: a link if it leads to a web page, else the text alone. The other page does
 * not learn where it was opened.
 */
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
