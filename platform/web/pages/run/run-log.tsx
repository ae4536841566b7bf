import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Run } from '../../../api/runs.ts'
import { hasEnded } from '../../../rules/runs/run-states.ts'
import { Log, type LogGroup } from '../../parts/logs/log.tsx'
import { LogTools } from '../../parts/logs/log-tools.tsx'
import type { ShownState } from '../../parts/state.tsx'
import { duration } from '../../state/relative-time.ts'
import { type KeptLog, phasesOf, RUN_STEPS, type RunStep } from '../../state/run-log.ts'

const STATES: Readonly<Record<string, ShownState | undefined>> = {
  active: { tone: 'busy', icon: 'spin', word: 'Running' },
  failed: { tone: 'bad', icon: 'warn', word: 'Failed' },
  stopped: { tone: 'quiet', icon: 'stop', word: 'Stopped' },
  done: { tone: 'good', icon: 'check', word: 'Done' },
}

const TITLES: Readonly<Record<RunStep, string>> = { clone: 'Clone', build: 'Build', deploy: 'Deploy' }

/**
 * Shows the log of a run, collapsed by step. Each line has a URL. `_drawn` is not read: it changes when lines are
 * added, so that the component is rendered again.
 */
export function RunLog({ run, log }: { readonly run: Run; readonly log: KeptLog; readonly _drawn: number }) {
  const { steps, seen, left } = log
  const search = useSignal('')
  const target = useTarget()
  const isOver = hasEnded(run.state)
  // If the URL names a line, the log opens there; otherwise it follows the end.
  const isFollowing = useSignal(target === undefined)
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
      {left > 0 && (
        <p class="soft">
          {left.toLocaleString('en')} older lines are not shown. To see all that are kept, use the command below.
        </p>
      )}
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
        empty={isOver ? 'No output, or the log is no longer kept.' : 'No output yet.'}
      />
    </section>
  )
}

/** Returns the number of the line in the URL fragment, such as `#L12`. */
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
