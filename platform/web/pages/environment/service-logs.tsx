import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { LogLineEvent } from '../../../api/environments.ts'
import { SameOnCommandLine } from '../../parts/copy.tsx'
import { Button } from '../../parts/forms/button.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { Log, type LogRow } from '../../parts/logs/log.tsx'
import { LogTools } from '../../parts/logs/log-tools.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import type { Failure } from '../../state/problem.ts'
import { commandLine } from '../../state/shell-words.ts'
import { follow } from '../../state/stream.ts'

interface ServiceLogsProps {
  readonly namespace: string
  readonly environment: string
  readonly service: string
}

/** Maximum number of lines that are kept; older ones are dropped. */
const KEPT = 10_000
/** Number of earlier lines to request from each container. */
const TAIL = '500'
/** Time for which lines are collected before they are drawn together, in milliseconds. */
const GATHERED = 80

/** Shows the log of a service as it arrives. */
export function ServiceLogs({ namespace, environment, service }: ServiceLogsProps) {
  const lines = useRef<LogRow[]>([])
  const drawn = useSignal<readonly LogRow[]>([])
  const isPaused = useSignal(false)
  const late = useSignal(0)
  const isFollowing = useSignal(true)
  const search = useSignal('')
  const problem = useSignal<Failure | undefined>(undefined)
  const draw = () => {
    drawn.value = [...lines.current]
    late.value = 0
  }
  useEffect(() => {
    const leave = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let number = 0
    const gather = () => {
      timer = undefined
      if (lines.current.length > KEPT) lines.current.splice(0, lines.current.length - KEPT)
      if (isPaused.peek()) late.value = number - (drawn.peek().at(-1)?.number ?? 0)
      else draw()
    }
    const repeated = new RepeatedNotes()
    const listener = {
      onEvent(event: LogLineEvent) {
        if (repeated.has(event)) return
        number++
        lines.current.push(toRow(event, number))
        timer ??= setTimeout(gather, GATHERED)
      },
      onEnd: () => repeated.end(),
      onRefused(refused: Failure) {
        problem.value = refused
      },
    }
    const input = { params: { ns: namespace }, query: { environment, service, tail: TAIL } }
    void follow('GET /namespaces/:ns/logs', input, listener, leave.signal)
    return () => {
      leave.abort()
      clearTimeout(timer)
    }
  }, [])
  return (
    <Section
      title="Logs"
      actions={
        <LogTools
          search={search.value}
          onSearch={value => {
            search.value = value
          }}
          isFollowing={isFollowing.value}
          onFollowing={value => {
            isFollowing.value = value
          }}
        >
          <Button
            icon={isPaused.value ? 'play' : 'stop'}
            aria-pressed={isPaused.value}
            onClick={() => {
              isPaused.value = !isPaused.value
              if (!isPaused.value) draw()
            }}
          >
            {isPaused.value && late.value > 0 ? `Resume, ${late.value} new` : isPaused.value ? 'Resume' : 'Pause'}
          </Button>
        </LogTools>
      }
    >
      {problem.value && <ProblemBox problem={problem.value} />}
      <Log
        label={`Logs of ${service}`}
        groups={[{ name: service, rows: drawn.value, isOpen: true }]}
        search={search.value}
        isFollowing={isFollowing.value && !isPaused.value}
        onFollowing={value => {
          if (!isPaused.value) isFollowing.value = value
        }}
        empty="No logs yet."
      />
      <SameOnCommandLine
        command={commandLine(...['devctl', 'logs', `^${service}$`, '--name', environment, '--namespace', namespace])}
      />
    </Section>
  )
}

/**
 * Recognizes the notes that the platform repeats when the log stream is opened again. Lines of the log are not
 * repeated: they have ids, and the stream resumes after the last id.
 */
class RepeatedNotes {
  readonly #shown = new Set<string>()
  #expected = new Set<string>()

  /**
   * Returns true for a note that an earlier stream has already reported. In each stream, only the first occurrence of
   * the note counts as such a repetition.
   */
  has({ type, source, text }: LogLineEvent): boolean {
    if (type !== 'note') return false
    const key = JSON.stringify([source, text])
    this.#shown.add(key)
    return this.#expected.delete(key)
  }

  /** Records the end of a stream. All notes up to now count as repetitions when the next stream reports them. */
  end(): void {
    this.#expected = new Set(this.#shown)
  }
}

/** Converts an event to a row. Notes about the log have no time, so they get the current time. */
const toRow = (event: LogLineEvent, number: number): LogRow =>
  event.type === 'line'
    ? { number, time: event.time, about: event.source, text: event.text }
    : {
        number,
        time: new Date().toISOString(),
        text: event.text,
        isNote: true,
        ...(event.source !== undefined && { about: event.source }),
      }
