import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Mark } from '../../parts/icon.tsx'
import { platformHost } from '../../state/session.ts'

/** Renders a page for a single task, outside the normal UI, such as a login. */
export function Frame({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · devctl`
  }, [title])
  return (
    <main class="centre">
      <div class="card login">
        <header>
          <Mark size={40} />
          <h1>{title}</h1>
          <p class="soft">{platformHost.value}</p>
        </header>
        {children}
      </div>
    </main>
  )
}
