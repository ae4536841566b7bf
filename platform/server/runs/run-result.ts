import type { Cluster } from '../../../adapters/kubernetes/cluster.ts'
import { problemLines, toldProblem } from '../../../compiler/diagnostics/told-problem.ts'
import type { RunRecord } from '../../records/run.ts'
import { readSaved } from './run-log.ts'
import { RUN } from './run-objects.ts'

/** The result of a run according to its log. It is not trusted, because code of the run wrote the log. */
export interface SaidResult {
  readonly endpoints: readonly string[]
  /** The first problems, as `deploy` printed them to the terminal; absent if it printed none. */
  readonly problem?: string
}

/** Maximum number of addresses and of problems, and maximum length of the problems in characters. */
const MOST = { endpoints: 100, problems: 3, letters: 4000 }

/** Returns the addresses and the first problems from the saved log of a deploy. */
export async function resultOf(cluster: Cluster, run: RunRecord, signal: AbortSignal): Promise<SaidResult> {
  let endpoints: readonly string[] = []
  let problems = 0
  const told: string[] = []
  if (run.found.log)
    for await (const { step, text } of readSaved(cluster, run, run.found.log, signal)) {
      if (step !== RUN || !/^\{.*"type":"(?:result|diagnostic)"/s.test(text)) continue
      const said = toObject(text)
      const found = said?.['endpoints']
      if (said?.['type'] === 'result' && Array.isArray(found))
        endpoints = found.filter(one => typeof one === 'string').slice(0, MOST.endpoints)
      if (said?.['type'] !== 'diagnostic' || said['severity'] !== 'error') continue
      problems++
      if (problems <= MOST.problems) told.push(problemLines(toldProblem(said)).join('\n').slice(0, MOST.letters))
    }
  if (problems > told.length) told.push(`and ${problems - told.length} more`)
  const problem = told.join('\n\n').slice(0, MOST.letters)
  return { endpoints, ...(problem !== '' && { problem }) }
}

type Fields = Readonly<Record<string, unknown>>

const record = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})

function toObject(text: string): Fields | undefined {
  try {
    return record(JSON.parse(text))
  } catch {
    return undefined
  }
}
