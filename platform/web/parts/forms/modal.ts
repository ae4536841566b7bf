import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Shows a `<dialog>` over the page, and calls `onClose` when the browser has closed it. The page behind it cannot take
 * the focus while the dialog is open, so the dialog is closed before it is removed: the browser then restores the
 * focus.
 */
export function useModal(onClose: () => void): { readonly ref: RefObject<HTMLDialogElement | null>; close(): void } {
  const ref = useRef<HTMLDialogElement>(null)
  const last = useRef(onClose)
  last.current = onClose
  // Opens the dialog before the next key press, which is meant for it.
  useLayoutEffect(() => {
    const before = document.activeElement
    const dialog = ref.current
    const closed = () => last.current()
    dialog?.addEventListener('close', closed)
    dialog?.showModal()
    return () => {
      dialog?.removeEventListener('close', closed)
      dialog?.close()
      if (before instanceof HTMLElement && before.isConnected && document.activeElement !== before) before.focus()
    }
  }, [])
  return { ref, close: () => ref.current?.close() }
}
