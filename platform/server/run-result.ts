import type { Cluster } from '../../adapters/kubernetes/cluster.ts'
import type { RunRecord } from '../records/run.ts'
import { readSaved } from './run-log.ts'
import { RUN } from './run-objects.ts'

/** What the log of a run says about its result. The code of the run wrote it, so it is not trusted. */
export interface SaidResult {
  readonly endpoints: readonly string[]
  readonly problem?: string
}

/** Addresses, and characters of a problem, that are kept. */
const MOST = { endpoints: 100, problem: 4000 }

/** The addresses and the first problem in the saved log of a deploy. */
export async function resultOf(cluster: Cluster, run: RunRecord, signal: AbortSignal): Promise<SaidResult> {
  let endpoints: readonly string[] = []
  let problem: string | undefined
  if (run.found.log)
    for await (const { step, text } of readSaved(cluster, run, run.found.log, signal)) {
      if (step !== RUN || !/^\{.*"type":"(?:result|diagnostic)"/s.test(text)) continue
      const said = toObject(text)
      const found = said?.['endpoints']
      if (said?.['type'] === 'result' && Array.isArray(found))
        endpoints = found.filter(one => typeof one === 'string').slice(0, MOST.endpoints)
      if (said?.['type'] === 'diagnostic' && said['severity'] === 'error') problem ??= problemText(said)
    }
  return { endpoints, ...(problem !== undefined && { problem }) }
}

function problemText({ code, message, file, range }: Fields): string {
  const { line } = record(record(range)['start'])
  const head = `error${typeof code === 'string' ? `[${code}]` : ''}: ${typeof message === 'string' ? message : ''}`
  const place = typeof file === 'string' ? `\n  --> ${file}${typeof line === 'number' ? `:${line}` : ''}` : ''
  return `${head}${place}`.slice(0, MOST.problem)
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
