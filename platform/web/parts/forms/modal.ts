import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Shows a `<dialog>` over the page, and calls `onClose` when the dialog has been closed. Before the dialog is removed,
 * it is closed, because nothing else on the page can take the focus while it is open. The focus then returns to its
 * earlier element.
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
