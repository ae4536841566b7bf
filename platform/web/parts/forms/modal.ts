import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * Shows a `<dialog>` over the page, and tells when the browser has closed it. What is behind it takes no focus
 * while it is open, so it is closed before it leaves the page: the browser then gives the focus back.
 */
export function useModal(onClose: () => void): { readonly ref: RefObject<HTMLDialogElement | null>; close(): void } {
  const ref = useRef<HTMLDialogElement>(null)
  const last = useRef(onClose)
  last.current = onClose
  // Before the next key: it is for the dialog.
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
