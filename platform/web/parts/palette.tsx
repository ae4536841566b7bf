import { signal, useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'
import { addressOf } from '../../api/pages.ts'
import { type Findable, find } from '../state/find.ts'
import { navigate } from '../state/navigate.ts'
import { useResource } from '../state/resource.ts'
import { isAdmin, logout } from '../state/session.ts'
import { chooseTheme } from '../state/theme.ts'
import { Icon } from './icon.tsx'
import { useModal } from './modal.ts'

const isOpen = signal(false)
/** The list of keys is shown. */
export const isHelpOpen = signal(false)
/** Rows that are shown at most. */
const SHOWN = 40

export function openPalette(): void {
  isOpen.value = true
}

/** Opens the search by `/`, and the list of keys by `?`, where nothing is typed; the search also by Control or Command with K. */
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

function useFindables(): readonly Findable[] {
  const { data } = useResource('GET /namespaces', {}).state.value
  const page = (text: string, href: string, also?: string): Findable => ({
    text,
    group: 'Page',
    href,
    ...(also !== undefined && { also }),
  })
  return [
    ...(data?.items ?? []).map(({ name, owner }) => ({
      text: name,
      also: `namespace ${owner.login}`,
      group: 'Namespace',
      href: addressOf('namespace', { ns: name }),
    })),
    page('Home', addressOf('home'), 'namespaces start'),
    page('Previews', addressOf('previews'), 'branches pull requests'),
    page('Webhooks', addressOf('webhooks'), 'previews forks approve pull requests repository'),
    page('Your account', addressOf('you'), 'profile appearance sessions kubectl'),
    page('Tokens', addressOf('tokens'), 'api ci programs'),
    page('Your variables and Git credentials', addressOf('yourVariables'), 'secrets environment forge login'),
    ...(isAdmin.value
      ? [
          page('Platform overview', addressOf('overview'), 'admin administration health builders queue disk'),
          page('People', addressOf('users'), 'users admin administration'),
          page('Variables for everyone', addressOf('everybodysVariables'), 'admin administration platform'),
          page('Analytics', addressOf('analytics'), 'admin administration commands usage'),
          page('Platform settings', addressOf('platformSettings'), 'admin administration ci trust limits login'),
        ]
      : []),
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

function OpenPalette() {
  const { ref: dialog, close } = useModal(() => {
    isOpen.value = false
  })
  const text = useSignal('')
  const chosen = useSignal(0)
  const id = useId()
  const found = find(useFindables(), text.value).slice(0, SHOWN)
  useEffect(() => {
    dialog.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [chosen.value])
  const open = (one: Findable | undefined) => {
    if (!one) return
    close()
    if (one.run) one.run()
    else if (one.href !== undefined) navigate(one.href)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) chosen.value = (chosen.value + step + found.length) % found.length
    else if (event.key === 'Enter') open(found[chosen.value])
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
          aria-label="Search namespaces, pages and actions"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={found.length > 0 ? `${id}-${chosen.value}` : undefined}
          autocomplete="off"
          spellcheck={false}
          placeholder="Search namespaces, pages and actions"
          value={text.value}
          onInput={event => {
            text.value = event.currentTarget.value
            chosen.value = 0
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
            key={`${one.group} ${one.text}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen.value}
            class="palette-row"
            onClick={() => open(one)}
            onPointerMove={() => {
              chosen.value = index
            }}
          >
            <Icon name={one.group === 'Namespace' ? 'box' : one.group === 'Page' ? 'right' : 'terminal'} />
            <span class="cut">{one.text}</span>
            <span class="soft">{one.group}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="palette-none soft">No results</p>}
    </dialog>
  )
}
