import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Run } from '../../../api/runs.ts'
import { hasEnded } from '../../../rules/run-states.ts'
import { Log, type LogGroup } from '../../parts/log.tsx'
import { LogTools } from '../../parts/log-tools.tsx'
import type { ShownState } from '../../parts/state.tsx'
import { duration } from '../../state/relative-time.ts'
import {
  phasesOf,
  type ReadLine,
  RUN_STEPS,
  type RunLogLine,
  type RunStep,
  readRunLine,
  type SeenSteps,
} from '../../state/run-log.ts'

/** The lines of a run, read, by the step that they belong to. */
export interface ReadLog {
  readonly steps: Readonly<Record<RunStep, readonly ReadLine[]>>
  readonly seen: SeenSteps
}

const read = new WeakMap<readonly RunLogLine[], { upTo: number; steps: Record<RunStep, ReadLine[]> }>()

/** Reads what has come since the last time. `_drawn` changes when there is more. */
export function readLines(lines: readonly RunLogLine[], _drawn: number): ReadLog {
  const known = read.get(lines) ?? { upTo: 0, steps: { clone: [], build: [], deploy: [] } }
  read.set(lines, known)
  for (const line of lines.slice(known.upTo)) {
    const one = readRunLine(line)
    known.steps[one.step].push(one)
  }
  known.upTo = lines.length
  const times = (at: 0 | -1) =>
    Object.fromEntries(
      RUN_STEPS.flatMap(step => (known.steps[step].at(at) ? [[step, known.steps[step].at(at)?.time]] : [])),
    )
  return { steps: known.steps, seen: { first: times(0), last: times(-1) } }
}

const STATES: Readonly<Record<string, ShownState | undefined>> = {
  active: { tone: 'busy', icon: 'spin', word: 'Running' },
  failed: { tone: 'bad', icon: 'warn', word: 'Ended here' },
  done: { tone: 'good', icon: 'check', word: 'Done' },
}

const TITLES: Readonly<Record<RunStep, string>> = { clone: 'Clone', build: 'Build', deploy: 'Deploy' }

/** The log of a run, folded by step; its lines have addresses. */
export function RunLog({ run, read: { steps, seen } }: { readonly run: Run; readonly read: ReadLog }) {
  const search = useSignal('')
  const target = useTarget()
  const isOver = hasEnded(run.state)
  // Who comes by the address of a line wants to see it, and who comes later reads from the beginning.
  const isFollowing = useSignal(target === undefined && !isOver)
  const phases = phasesOf(run, seen)
  const groups: LogGroup[] = RUN_STEPS.filter(step => steps[step].length > 0).map((step, index, all) => {
    const phase = phases.find(one => one.name === step)
    const state = STATES[phase?.state ?? '']
    return {
      name: step,
      title: run.action === 'destroy' && step === 'deploy' ? 'Destroy' : TITLES[step],
      rows: steps[step],
      ...(state && { state }),
      took: phase?.took === undefined ? undefined : duration(phase.took),
      isOpen: index === all.length - 1 || phase?.state === 'active' || phase?.state === 'failed',
    }
  })
  return (
    <section class="section">
      <header class="section-head">
        <h2>Log</h2>
        <LogTools
          search={search.value}
          onSearch={value => {
            search.value = value
          }}
          isFollowing={isOver ? undefined : isFollowing.value}
          onFollowing={value => {
            isFollowing.value = value
          }}
        />
      </header>
      <Log
        label="Log"
        groups={groups}
        search={search.value}
        target={target}
        isFollowing={isFollowing.value}
        onFollowing={value => {
          isFollowing.value = value
        }}
        isLinked
        empty={isOver ? 'It has said nothing, or its log is not kept any more.' : 'It has said nothing yet.'}
      />
    </section>
  )
}

/** The number of the line that the address names: `#L12`. */
function useTarget(): number | undefined {
  const hash = useSignal(location.hash)
  useEffect(() => {
    const look = () => {
      hash.value = location.hash
    }
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  const found = /^#L(\d{1,9})$/.exec(hash.value)?.[1]
  return found === undefined ? undefined : Number(found)
}
