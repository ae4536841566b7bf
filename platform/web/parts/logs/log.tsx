import { useSignal } from '@preact/signals'
import { Component, type ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { plainText, readAnsi } from '../../state/ansi.ts'
import { Icon } from '../icon.tsx'
import { OutsideLink } from '../link.tsx'
import { type ShownState, State } from '../state.tsx'

/** A line of a log. */
export interface LogRow {
  /** Number in the link to the line, also used as its key. */
  readonly number: number
  readonly time: string
  readonly about?: string
  readonly tone?: string
  /** Text of the line, which can contain ANSI escapes and several lines. */
  readonly text: string
  readonly endpoints?: readonly string[]
  /** True for a message of the platform. */
  readonly isNote?: boolean
}

export interface LogGroup {
  readonly name: string
  /** Title of the group. If absent, its lines are shown without a group. */
  readonly title?: string
  readonly state?: ShownState
  readonly took?: string | undefined
  readonly rows: readonly LogRow[]
  /** True if the group is expanded until the user collapses it. */
  readonly isOpen: boolean
}

interface LogProps {
  readonly label: string
  readonly groups: readonly LogGroup[]
  /** Text that the shown lines have to contain. */
  readonly search: string
  /** Number of the line that the URL names. */
  readonly target?: number | undefined
  /** True if the end is kept in view. */
  readonly isFollowing: boolean
  readonly onFollowing: (isFollowing: boolean) => void
  /** True if each line has a link. */
  readonly isLinked?: boolean
  /** Content that is shown if there are no lines. */
  readonly empty: ComponentChildren
}

/** Maximum number of lines that are shown of a group; a button shows more. */
const SHOWN = 1_000
/** Maximum distance from the end that still counts as the end, in pixels. */
const NEAR = 24

/** Shows lines in a scrollable box as they arrive. Their text is never interpreted as HTML. */
export function Log({ label, groups, search, target, isFollowing, onFollowing, isLinked = false, empty }: LogProps) {
  const box = useRef<HTMLElement>(null)
  const lines = groups.reduce((sum, one) => sum + one.rows.length, 0)
  const isTargetThere = target !== undefined && groups.some(one => one.rows.some(row => row.number === target))
  useLayoutEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight
  })
  useLayoutEffect(() => {
    if (isTargetThere) box.current?.querySelector(`#L${target}`)?.scrollIntoView({ block: 'center' })
  }, [isTargetThere, target])
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {}
    const isAtEnd = scrollHeight - scrollTop - clientHeight < NEAR
    if (isAtEnd !== isFollowing) onFollowing(isAtEnd)
  }
  const found = search.trim().toLowerCase()
  return (
    <section
      ref={box}
      class="log"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled, by keyboard too
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={isLinked ? moveBetweenLines : undefined}
    >
      {lines === 0 && <p class="log-empty soft">{empty}</p>}
      {groups.map(one => (
        <Group key={one.name} group={one} search={found} target={target} isLinked={isLinked} />
      ))}
    </section>
  )
}

interface GroupProps {
  readonly group: LogGroup
  readonly search: string
  readonly target: number | undefined
  readonly isLinked: boolean
}

function Group({ group: { title, state, took, rows, isOpen }, search, target, isLinked }: GroupProps) {
  const chosen = useSignal<boolean | undefined>(undefined)
  const shown = useSignal(SHOWN)
  const found = search === '' ? rows : rows.filter(row => searched(row).includes(search))
  const targetAt = target === undefined ? -1 : found.findIndex(row => row.number === target)
  const count = targetAt < 0 ? shown.value : Math.max(shown.value, found.length - targetAt + 20)
  const visible = found.slice(-count)
  const earlier = found.length - visible.length
  // The Tab key reaches only one of the line numbers; the arrow keys move to the others.
  const reached = targetAt >= 0 ? target : visible.at(-1)?.number
  const body = (
    <>
      {earlier > 0 && (
        <button
          type="button"
          class="log-earlier"
          onClick={() => {
            shown.value += SHOWN
          }}
        >
          Show {Math.min(SHOWN, earlier)} earlier lines
        </button>
      )}
      {visible.map(row => (
        <LogLine
          key={row.number}
          row={row}
          search={search}
          isTarget={row.number === target}
          isReached={row.number === reached}
          isLinked={isLinked}
        />
      ))}
    </>
  )
  if (title === undefined) return <div class="log-lines">{body}</div>
  if (search !== '' && found.length === 0) return null
  const isShown = search !== '' || targetAt >= 0 || (chosen.value ?? isOpen)
  return (
    <details
      class="log-group"
      open={isShown}
      onToggle={event => {
        if (event.currentTarget.open !== isShown) chosen.value = event.currentTarget.open
      }}
    >
      <summary>
        <Icon name="right" size={14} />
        <span class="strong">{title}</span>
        {state && <State {...state} />}
        <span class="soft log-count">
          {search === ''
            ? `${rows.length} ${rows.length === 1 ? 'line' : 'lines'}`
            : `${found.length} of ${rows.length} lines`}
          {took !== undefined && ` · ${took}`}
        </span>
      </summary>
      {isShown && <div class="log-lines">{body}</div>}
    </details>
  )
}

interface LineProps {
  readonly row: LogRow
  readonly search: string
  readonly isTarget: boolean
  readonly isReached: boolean
  readonly isLinked: boolean
}

/** A line of a log, which is rendered again only if its data has changed, because there are thousands of lines. */
class LogLine extends Component<LineProps> {
  override shouldComponentUpdate(next: LineProps) {
    const now = this.props
    return (
      next.row !== now.row ||
      next.search !== now.search ||
      next.isTarget !== now.isTarget ||
      next.isReached !== now.isReached
    )
  }

  override render({ row, search, isTarget, isReached, isLinked }: LineProps) {
    const { number, time, about, tone, text, endpoints = [], isNote } = row
    const look = ['log-line', tone && `tone-${tone}`, isTarget && 'is-target', isNote && 'is-note']
    return (
      <div id={isLinked ? `L${number}` : undefined} class={look.filter(Boolean).join(' ')}>
        {isLinked && (
          <a class="log-number" href={`#L${number}`} tabIndex={isReached ? 0 : -1} aria-label={`Line ${number}`}>
            {number}
          </a>
        )}
        <time dateTime={time} title={time}>
          {clockOf(time)}
        </time>
        <span class="log-text">
          {about !== undefined && <span class="log-about">{marked(plainText(about), search)} </span>}
          {text.split('\n').map((line, index) => (
            <span key={index} class="log-part">
              {readAnsi(line).map((span, at) =>
                span.look === '' ? (
                  marked(span.text, search)
                ) : (
                  <span key={at} class={span.look}>
                    {marked(span.text, search)}
                  </span>
                ),
              )}
            </span>
          ))}
          {endpoints.map(one => (
            <span key={one} class="log-part">
              <OutsideLink href={one} />
            </span>
          ))}
        </span>
      </div>
    )
  }
}

/** Marks the parts of a text that match the search. */
function marked(text: string, search: string): ComponentChildren {
  if (search === '') return text
  const lower = text.toLowerCase()
  // Some characters are longer in lower case, so positions would not match. Nothing is marked then.
  if (lower.length !== text.length) return text
  const parts: ComponentChildren[] = []
  let from = 0
  for (let at = lower.indexOf(search); at >= 0; at = lower.indexOf(search, from)) {
    parts.push(text.slice(from, at), <mark>{text.slice(at, at + search.length)}</mark>)
    from = at + search.length
  }
  return [...parts, text.slice(from)]
}

const texts = new WeakMap<LogRow, string>()

/** Returns the searchable text of a line, in lower case. */
function searched(row: LogRow): string {
  const known = texts.get(row)
  if (known !== undefined) return known
  const made = `${row.about ?? ''} ${plainText(row.text)}`.toLowerCase()
  texts.set(row, made)
  return made
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })

function clockOf(time: string): string {
  const at = Date.parse(time)
  return Number.isNaN(at) ? '' : CLOCK.format(at)
}

/** Moves the focus from one line number to another with the arrow keys. */
function moveBetweenLines(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const from = event.target
  if (step === undefined || !(from instanceof HTMLElement) || !from.classList.contains('log-number')) return
  const all = [...(from.closest('.log')?.querySelectorAll<HTMLElement>('.log-number') ?? [])]
  const next = all[all.indexOf(from) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
}
