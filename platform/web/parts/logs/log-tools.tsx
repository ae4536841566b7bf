import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { Button } from '../forms/button.tsx'
import { Icon } from '../icon.tsx'

interface LogToolsProps {
  readonly search: string
  readonly onSearch: (search: string) => void
  /** True if the end of the log is kept in view. Absent if no more lines will arrive. */
  readonly isFollowing?: boolean | undefined
  readonly onFollowing: (isFollowing: boolean) => void
  readonly children?: ComponentChildren
}

/** Renders the tools of a log: a search field, and a switch that keeps the end in view. */
export function LogTools({ search, onSearch, isFollowing, onFollowing, children }: LogToolsProps) {
  const id = useId()
  return (
    <div class="log-tools">
      <div class="log-search">
        <Icon name="search" />
        <label class="hidden" for={id}>
          Search the log
        </label>
        <input
          id={id}
          class="input"
          type="search"
          autocomplete="off"
          spellcheck={false}
          placeholder="Search the log"
          value={search}
          onInput={event => onSearch(event.currentTarget.value)}
        />
      </div>
      {children}
      {isFollowing !== undefined && (
        <Button icon="down" aria-pressed={isFollowing} onClick={() => onFollowing(!isFollowing)}>
          Follow
        </Button>
      )}
    </div>
  )
}
