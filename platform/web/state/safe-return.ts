/** A path of this site, or the first page: nobody is sent elsewhere by a link that somebody made. */
export function safeReturn(text: string | undefined, origin: string): string {
  if (!text?.startsWith('/') || !URL.canParse(text, origin)) return '/'
  const url = new URL(text, origin)
  // `/.//host` has the path `//host`, which is another site.
  return url.origin === origin && !url.pathname.startsWith('//') ? url.pathname + url.search : '/'
}
