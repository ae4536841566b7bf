import { signal, useSignal } from '@preact/signals'
import { useEffect, useId, useMemo } from 'preact/hooks'
import { addressOf } from '../../../api/pages.ts'
import { type Findable, findFew } from '../../state/find.ts'
import { navigate } from '../../state/navigate.ts'
import type { Failure } from '../../state/problem.ts'
import { type ReadState, useResource } from '../../state/resource.ts'
import { isAdmin, logout, me } from '../../state/session.ts'
import { chooseTheme } from '../../state/theme.ts'
import { useModal } from '../forms/modal.ts'
import { Icon, type IconName } from '../icon.tsx'
import { findablesOf, namespacesOf } from './findables.ts'
import { ADMINISTRATION, NAVIGATION, type NavigationPage } from './navigation.ts'

const isOpen = signal(false)
/** True while the list of keyboard shortcuts is shown. */
export const isHelpOpen = signal(false)
/** Maximum numbers of results: in total, and in each group. */
const MOST = { inAll: 40, ofGroup: 12 }
/** Maximum number of namespaces that are shown before the user types. */
const FIRST = 10
/** Number of runs that are searched, newest first. */
const RUNS = '200'
/** Polling interval while the search is open, in milliseconds. */
const EVERY = 60_000

const ICONS: Readonly<Record<string, IconName>> = {
  Namespace: 'box',
  Preview: 'branch',
  Environment: 'graph',
  Service: 'server',
  Person: 'user',
  Run: 'play',
  Page: 'right',
}

export function openPalette(): void {
  isOpen.value = true
}

/**
 * Listens for the keys that open the search (`/`) and the list of keyboard shortcuts (`?`), unless the user is typing,
 * and for Control or Command with K, which toggles the search.
 */
export function listenForPalette(): () => void {
  const listen = (event: KeyboardEvent) => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')
    const isKey = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k'
    const isPlain = !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey
    if (!isKey && !(isPlain && (event.key === '/' || event.key === '?'))) return
    if (document.querySelector('dialog[open]:not(.palette)')) return
    event.preventDefault()
    if (event.key === '?') isHelpOpen.value = true
    else isOpen.value = isKey ? !isOpen.value : true
  }
  addEventListener('keydown', listen)
  return () => removeEventListener('keydown', listen)
}

export const Palette = () => (isOpen.value ? <OpenPalette /> : null)

/** Returns a page as a search result. The page of the user's account is also found by the login of the user. */
const toFindable = (page: NavigationPage): Findable => ({
  ...page,
  group: 'Page',
  also: page.also + (page.href === addressOf('you') ? ` ${me.value?.login ?? ''}` : ''),
})

function pagesAndActions(): readonly Findable[] {
  return [
    ...NAVIGATION.map(toFindable),
    ...(isAdmin.value ? ADMINISTRATION.map(toFindable) : []),
    { text: 'New namespace', group: 'Action', also: 'create add', href: `${addressOf('home')}?new` },
    { text: 'Use light theme', group: 'Action', also: 'colours appearance', run: () => chooseTheme('light') },
    { text: 'Use dark theme', group: 'Action', also: 'colours appearance', run: () => chooseTheme('dark') },
    { text: 'Use system theme', group: 'Action', also: 'colours appearance', run: () => chooseTheme('system') },
    {
      text: 'Keyboard shortcuts',
      group: 'Action',
      also: 'keys help',
      run: () => {
        isHelpOpen.value = true
      },
    },
    { text: 'Log out', group: 'Action', also: 'sign out end session', run: () => void logout() },
  ]
}

/** Items that the search can find, as far as they are loaded, with messages about data that is still missing. */
interface Searchable {
  readonly all: readonly Findable[]
  /** Results that are shown before the user types. */
  readonly first: readonly Findable[]
  /** Names of the kinds of data that are still being loaded, such as `runs`. */
  readonly loading: readonly string[]
  /** Messages about data that could not be loaded. */
  readonly problems: readonly string[]
}

/** Loads the data to search, with three requests whatever the number of namespaces. */
function useSearchable(): Searchable {
  const namespaces = useResource('GET /namespaces', {}).state.value
  const names = useResource('GET /search', {}, EVERY).state.value
  const runs = useResource('GET /runs', { query: { last: RUNS } }, EVERY).state.value
  const [self, admin] = [me.value?.id, isAdmin.value]
  const { all, first } = useMemo(() => {
    const by = { self, isAdmin: admin, now: Date.now() }
    const [pages, items] = [pagesAndActions(), namespaces.data?.items ?? []]
    const read = { namespaces: items, names: names.data, runs: runs.data?.items }
    return {
      all: [...findablesOf(read, by), ...pages],
      first: [...namespacesOf(items, by).slice(0, FIRST), ...pages],
    }
  }, [namespaces.data, names.data, runs.data, self, admin])
  const parts: readonly (readonly [string, ReadState<unknown>])[] = [
    ['namespaces', namespaces],
    ['environments, services and people', names],
    ['runs', runs],
  ]
  const unread = names.data?.unread
  return {
    all,
    first,
    loading: parts.flatMap(([what, { data, problem }]) => (data || problem ? [] : [what])),
    problems: [
      ...parts.flatMap(([what, { problem }]) => (problem ? [problemText(what, problem)] : [])),
      ...(unread === undefined ? [] : [`Environments of ${unread} of the namespaces could not be read`]),
    ],
  }
}

const problemText = (what: string, { message }: Failure): string =>
  `${what.charAt(0).toUpperCase()}${what.slice(1)} could not be read: ${message}`

const keyOf = ({ group, text, href = '', id = '' }: Findable): string => `${group} ${text} ${href} ${id}`

function OpenPalette() {
  const { ref: dialog, close } = useModal(() => {
    isOpen.value = false
  })
  const text = useSignal('')
  /**
   * Key of the row that the user has selected; undefined before that. A key, unlike an index, stays valid when further
   * results arrive.
   */
  const moved = useSignal<string | undefined>(undefined)
  const id = useId()
  const { all, first, loading, problems } = useSearchable()
  const { found, more } = useMemo(
    () => (text.value.trim() === '' ? { found: first, more: 0 } : findFew(all, text.value, MOST)),
    [all, first, text.value],
  )
  const chosen = Math.max(
    0,
    found.findIndex(one => keyOf(one) === moved.value),
  )
  const choose = (one: Findable | undefined) => {
    moved.value = one && keyOf(one)
  }
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  const open = (one: Findable | undefined) => {
    if (!one) return
    close()
    if (one.run) one.run()
    else if (one.href !== undefined) navigate(one.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) choose(found[(chosen + step + found.length) % found.length])
    else if (event.key === 'Enter') open(found[chosen])
    else return
    event.preventDefault()
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; by keyboard, Escape does
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search"
      onClick={event => event.target === dialog.current && close()}
    >
      <div class="palette-input">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Search namespaces, environments, services, runs, people and pages"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
          autocomplete="off"
          spellcheck={false}
          placeholder="Search names, branches, commits, people"
          value={text.value}
          onInput={event => {
            text.value = event.currentTarget.value
            moved.value = undefined
          }}
          onKeyDown={onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="palette-list" id={`${id}-list`} role="listbox" aria-label="Results">
        {found.map((one, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input takes the keys
          // biome-ignore lint/a11y/useFocusableInteractive: see above
          <div
            key={keyOf(one)}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            class="palette-row"
            onClick={() => open(one)}
            onPointerMove={() => choose(one)}
          >
            <Icon name={ICONS[one.group] ?? 'terminal'} />
            <span class="palette-text cut">{one.text}</span>
            <span class="palette-detail soft cut">{one.detail}</span>
            <span class="soft">{one.group}</span>
          </div>
        ))}
      </div>
      <div class="palette-notes soft" role="status">
        {found.length === 0 && loading.length === 0 && <p>No results</p>}
        {more > 0 && <p>{more} more: type more to narrow them down</p>}
        {loading.length > 0 && <p>Loading {loading.join(', ')}…</p>}
        {problems.map(one => (
          <p key={one} class="palette-problem">
            {one}
          </p>
        ))}
      </div>
    </dialog>
  )
}
