import type { Run } from '../../../api/runs.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { duration } from '../../state/relative-time.ts'
import { phasesOf, type RunPhase, type SeenSteps } from '../../state/run-log.ts'

const LOOKS: Readonly<Record<RunPhase['state'], readonly [icon: IconName, tone: string, word: string]>> = {
  done: ['check', 'good', 'done'],
  active: ['spin', 'busy', 'running'],
  failed: ['warn', 'bad', 'failed'],
  stopped: ['stop', 'quiet', 'stopped'],
  skipped: ['right', 'quiet', 'skipped'],
  waiting: ['ring', 'quiet', 'pending'],
}

const NAMES: Readonly<Record<RunPhase['name'], string>> = {
  queue: 'Queue',
  clone: 'Clone',
  build: 'Build',
  deploy: 'Deploy',
  ready: 'Ready',
}

interface PhasesProps {
  readonly run: Run
  readonly seen: SeenSteps
  /** Current time, in milliseconds since 1970. */
  readonly at: number
}

/** Renders the phases of a run, from queued to ready. Each phase is at its final position from the beginning. */
export const Phases = ({ run, seen, at }: PhasesProps) => (
  <ol class="phases" aria-label="Progress">
    {phasesOf(run, seen).map(({ name, state, took }) => {
      const [icon, tone, word] = LOOKS[state]
      const since = name === 'queue' && state === 'active' ? at - Date.parse(run.created) : took
      return (
        <li key={name} class={`phase tone-${tone}`} aria-current={state === 'active' ? 'step' : undefined}>
          <span class="state-icon">
            <Icon name={icon} size={12} />
          </span>
          <span class="phase-text">
            <span class="strong">{run.action === 'destroy' && name === 'deploy' ? 'Destroy' : NAMES[name]}</span>
            <span class="phase-state">
              {since === undefined || state === 'skipped' || state === 'waiting' ? word : duration(since)}
              {(state === 'failed' || state === 'stopped') && since !== undefined && `, ${word}`}
            </span>
          </span>
        </li>
      )
    })}
  </ol>
)
