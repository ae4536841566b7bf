import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useRoute } from 'preact-iso/router'
import { printable } from '../../../../compiler/values/printable.ts'
import { addressOf } from '../../../api/pages.ts'
import type { Run, RunEvent } from '../../../api/runs.ts'
import { hasEnded } from '../../../rules/runs/run-states.ts'
import { SameOnCommandLine } from '../../parts/copy.tsx'
import { Button } from '../../parts/forms/button.tsx'
import { DeployForm } from '../../parts/forms/deploy-form.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Page } from '../../parts/frame/page.tsx'
import { OutsideLink } from '../../parts/link.tsx'
import { shortRepository, titleOf, tookOf } from '../../parts/logs/runs.tsx'
import { InlineCode, ProblemBox } from '../../parts/problem.tsx'
import { runState, State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { commitPage } from '../../state/forge-pages.ts'
import type { Failure } from '../../state/problem.ts'
import { useResource } from '../../state/resource.ts'
import { KeptLog } from '../../state/run-log.ts'
import { commandLine } from '../../state/shell-words.ts'
import { follow } from '../../state/stream.ts'
import { toast } from '../../state/toasts.ts'
import { Errors } from './errors.tsx'
import { Phases } from './phases.tsx'
import { RunLog } from './run-log.tsx'

/** Shows one run: its progress, who started it from what source, and its log. */
export function RunPage() {
  const { params } = useRoute()
  const id = params['id'] ?? ''
  return <OneRun key={id} id={id} />
}

/** Time for which lines are collected before they are drawn together, in milliseconds. */
const GATHERED = 80
/** Update interval of the elapsed time while the run is active, in milliseconds. */
const TICK = 1_000

function OneRun({ id }: { readonly id: string }) {
  const found = useResource('GET /runs/:id', { params: { id } })
  const { data: run } = found.state.value
  const log = useRef(new KeptLog())
  /**
   * Number of draws so far. Changing the number triggers rendering. The list of lines is no signal, because it is too
   * long to be copied for each line.
   */
  const drawn = useSignal(0)
  const time = useSignal(Date.now())
  const refused = useSignal<Failure | undefined>(undefined)
  useEffect(() => {
    const leave = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let isComplete = false
    const draw = () => {
      timer = undefined
      drawn.value++
    }
    const listener = {
      onEvent(event: RunEvent) {
        if (event.type === 'state') {
          found.put(event.run)
          isComplete = hasEnded(event.run.state)
        } else log.current.add(event)
        timer ??= setTimeout(draw, GATHERED)
      },
      onRefused(problem: Failure) {
        refused.value = problem
      },
      isComplete: () => isComplete,
    }
    void follow('GET /runs/:id/log', { params: { id } }, listener, leave.signal)
    return () => {
      leave.abort()
      clearTimeout(timer)
    }
  }, [])
  const isOver = run !== undefined && hasEnded(run.state)
  useEffect(() => {
    if (isOver) return
    const timer = setInterval(() => {
      time.value = Date.now()
    }, TICK)
    return () => clearInterval(timer)
  }, [isOver])
  const title = run ? titleOf(run) : 'Run'
  return (
    <Page
      title={title}
      windowTitle={run ? `${title} · ${run.namespace}` : title}
      tone={run && runState(run.state).tone}
      crumbs={[
        ['Home', addressOf('home')],
        ...(run
          ? ([
              [run.namespace, addressOf('namespace', { ns: run.namespace })],
              ['Runs', addressOf('runs', { ns: run.namespace })],
            ] as const)
          : []),
      ]}
      beside={run && <State {...runState(run.state)} />}
      actions={run && <Actions run={run} onChanged={found.put} />}
    >
      <Loading of={found}>
        {one => (
          <>
            <About run={one} at={time.value} />
            <Phases run={one} seen={log.current.seen} at={time.value} />
            {one.reason !== undefined && (
              <div class={one.state === 'failed' || one.state === 'refused' ? 'problem' : 'card'} role="status">
                <p>
                  <InlineCode text={one.reason} />
                </p>
              </div>
            )}
            {one.state === 'failed' && <Errors lines={log.current.errors} />}
            {refused.value && <ProblemBox problem={refused.value} />}
            <RunLog run={one} log={log.current} _drawn={drawn.value} />
            <SameOnCommandLine
              command={commandLine(
                ...['devctl', 'pipeline', 'logs', '--name', one.environment, '--namespace', one.namespace],
              )}
            />
          </>
        )}
      </Loading>
    </Page>
  )
}

function About({ run, at }: { readonly run: Run; readonly at: number }) {
  const { repository, branch, commit, file, user, created, environment, namespace } = run
  const { variables = [], moreVariables = 0 } = run
  const page = commitPage({ repository: repository && shortRepository(repository), commit })
  const took = tookOf(run, at)
  return (
    <dl class="facts card run-facts">
      <dt>Environment</dt>
      <dd>
        <a class="link" href={addressOf('environment', { ns: namespace, env: environment })}>
          {environment}
        </a>{' '}
        in {namespace}
      </dd>
      <dt>Started by</dt>
      <dd>
        {user.name ?? user.login}, <Time at={created} />
      </dd>
      <dt>Repository</dt>
      <dd>
        {repository === undefined ? 'none' : <OutsideLink href={repository}>{shortRepository(repository)}</OutsideLink>}
        {file !== undefined && (
          <>
            {' '}
            <code>{printable(file)}</code>
          </>
        )}
      </dd>
      <dt>Branch</dt>
      <dd>{branch === undefined ? 'default branch' : <code>{printable(branch)}</code>}</dd>
      <dt>Commit</dt>
      <dd>
        {commit === undefined ? (
          <span class="soft">{hasEnded(run.state) ? 'unknown' : 'known once it is cloned'}</span>
        ) : page === undefined ? (
          <code>{commit.slice(0, 12)}</code>
        ) : (
          <OutsideLink href={page}>{commit.slice(0, 12)}</OutsideLink>
        )}
      </dd>
      <dt>Duration</dt>
      <dd>{took ?? <span class="soft">not started</span>}</dd>
      {variables.length > 0 && (
        <>
          <dt>Variables</dt>
          <dd>
            {variables.map(one => (
              <code key={one}>{one}</code>
            ))}
            {moreVariables > 0 && <span class="soft">and {moreVariables} more</span>}
          </dd>
        </>
      )}
    </dl>
  )
}

function Actions({ run, onChanged }: { readonly run: Run; readonly onChanged: (run: Run) => void }) {
  const isAgain = useSignal(false)
  const { data } = useResource('GET /namespaces/:ns', { params: { ns: run.namespace } }).state.value
  const cancel = useAction(async () => {
    onChanged(await platform.call('POST /runs/:id/cancel', { params: { id: run.id } }))
    toast('good', `Cancelling the ${run.action} of ${run.environment}`)
  })
  if (data?.role !== 'owner' && data?.role !== 'developer') return null
  const { namespace, environment, repository, branch, file } = run
  return (
    <>
      {cancel.problem && <ProblemBox problem={cancel.problem} />}
      {!hasEnded(run.state) && (
        <Button
          icon="stop"
          isBusy={cancel.isRunning}
          disabled={run.state === 'stopping'}
          onClick={() => void cancel.run()}
        >
          Cancel
        </Button>
      )}
      {hasEnded(run.state) && run.action === 'deploy' && (
        <Button
          icon="refresh"
          onClick={() => {
            isAgain.value = true
          }}
        >
          Redeploy
        </Button>
      )}
      {isAgain.value && (
        <DeployForm
          from={{ namespace, environment, repository, branch, file }}
          onClose={() => {
            isAgain.value = false
          }}
        />
      )}
    </>
  )
}
