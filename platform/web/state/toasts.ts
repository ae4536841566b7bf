import { signal } from '@preact/signals'

export interface Toast {
  readonly id: number
  readonly tone: 'good' | 'bad'
  readonly text: string
  readonly hint?: string
}

export const toasts = signal<readonly Toast[]>([])
let last = 0
/** Time for which a toast is shown, in milliseconds; problems are shown longer. */
const SEEN = { good: 4_000, bad: 12_000 }

/** Shows a short message for a while. */
export function toast(tone: Toast['tone'], text: string, hint?: string): void {
  const id = ++last
  toasts.value = [...toasts.value.slice(-2), { id, tone, text, ...(hint !== undefined && { hint }) }]
  setTimeout(() => dismiss(id), SEEN[tone])
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter(one => one.id !== id)
}
