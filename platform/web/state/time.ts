import { signal } from '@preact/signals'

/** Milliseconds since 1970, moved on twice a minute: all times on a page change together. */
export const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 30_000)
