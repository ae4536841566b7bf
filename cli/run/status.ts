import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionReport } from '../../operations/develop/control/messages.ts'
import type { Context } from '../command.ts'
import type { LoadingValues } from '../options/project.ts'
import { statusText } from '../terminal/develop/status-text.ts'
import { writeObject } from '../terminal/objects.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { chooseDevFor } from './choose-dev.ts'
import type { SessionOptions } from './cluster-session.ts'
import { withProject } from './project-session.ts'

export interface StatusValues extends LoadingValues, Omit<SessionOptions, 'timeout' | 'isEndless'> {
  readonly info: boolean
  readonly watch: boolean
  readonly output: 'text' | 'json'
}

/** Milliseconds between two looks of `--watch`. */
const EVERY = 500

/** Prints how far the files are in sync, once or with each change. */
export async function showStatus(context: Context, dev: string | undefined, options: StatusValues): Promise<number> {
  const values = { ...options, var: undefined, timeout: undefined, isEndless: options.watch }
  return withProject(context, values, async (own, project, session) => {
    const { activeSession } = await import('../../operations/develop/ask.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    const choose = chooseDevFor(own.io)
    let last = ''
    for (;;) {
      const report = await activeSession(world, { ...options, dev, choose }, project)
      const text = options.output === 'json' ? '' : statusText(report, options.info)
      if (options.output === 'json') {
        const key = JSON.stringify(report)
        if (key !== last) writeObject(own.io.stdout, toJson(report))
        last = key
      } else {
        if (text !== last) own.io.stdout.write(text)
        last = text
      }
      if (!options.watch) return 0
      await sleep(EVERY, undefined, { signal: session.signal })
    }
  })
}

const toJson = ({ process: _, ...report }: SessionReport) => ({ type: 'status', ...report })
