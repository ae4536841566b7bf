import { signal } from '@preact/signals'
import type { ComponentType, FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import lazy from 'preact-iso/lazy'
import { Button } from '../forms/button.tsx'
import { Empty } from '../problem.tsx'

/** Returns a page that is loaded when the user opens it. */
export const laterPage = (load: () => Promise<FunctionComponent>): FunctionComponent =>
  // The cast is safe: pages have no properties except those that the router passes.
  lazy(() => load().catch(() => NotLoaded)) as FunctionComponent

/** Returns a part of a page that is loaded when it is first shown; until then, `Place` is shown. */
export function laterPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Place: FunctionComponent,
): FunctionComponent<P> {
  const loaded = signal<{ readonly part: ComponentType<P> | FunctionComponent } | undefined>(undefined)
  return props => {
    useEffect(() => {
      if (loaded.peek()) return
      load().then(
        part => {
          loaded.value = { part }
        },
        () => {
          loaded.value = { part: NotLoaded }
        },
      )
    }, [])
    if (!loaded.value) return <Place />
    const Part = loaded.value.part as ComponentType<P> // the other one takes nothing
    return <Part {...props} />
  }
}

/**
 * Renders the message for a part that cannot be loaded, because the platform was upgraded while the page was open, or
 * there is no connection.
 */
const NotLoaded = () => (
  <div class="page">
    <Empty icon="refresh" title="This page could not be loaded">
      <p class="soft">The platform may have been upgraded since you opened this tab.</p>
      <Button onClick={() => location.reload()}>Reload page</Button>
    </Empty>
  </div>
)
