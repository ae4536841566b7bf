import { signal } from '@preact/signals'

/** Current time in milliseconds since 1970, updated twice a minute, so that all times on a page change together. */
export const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 30_000)
