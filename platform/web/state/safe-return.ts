/**
 * Returns a path on this site, otherwise the start page, so that a crafted link cannot redirect a user to another site.
 */
export function safeReturn(text: string | undefined, origin: string): string {
  if (!text?.startsWith('/') || !URL.canParse(text, origin)) return '/'
  const url = new URL(text, origin)
  // The path of `/.//host` is `//host`, which is another site.
  return url.origin === origin && !url.pathname.startsWith('//') ? url.pathname + url.search : '/'
}
