import { appendFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type RunnerTask, type RunnerTestSuite, TestRunner } from 'vitest'

/** Milliseconds since 1970. */
const deadline = Number(process.env.CI_DEADLINE)
/** A file that gets a line for each test that is left out: the file that it is in. */
const list = process.env.CI_LEFT_OUT

/**
 * Begins no file and no test after CI_DEADLINE: on a slow machine, a run before a merge ends with fewer tests instead of never.
 * The summary of `.ci/run` names what was left out.
 */
export default class DeadlineRunner extends TestRunner {
  override async onBeforeRunSuite(suite: RunnerTestSuite): Promise<void> {
    if (Date.now() > deadline) leaveOut(suite)
    await super.onBeforeRunSuite(suite)
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    if (Date.now() > deadline) leaveOut(test)
    await super.onBeforeRunTask(test)
  }
}

function leaveOut(task: RunnerTask): void {
  if (task.mode !== 'run' && task.mode !== 'queued') return
  task.mode = 'skip'
  if (task.type === 'suite') for (const one of task.tasks) leaveOut(one)
  else if (list !== undefined) appendFileSync(list, `${relative(process.cwd(), task.file.filepath)}\n`)
}
