import type { KubeObject } from '../../adapters/kubernetes/cluster.ts'
import { NO_USAGE, type UsageDay } from '../rules/usage.ts'
import { RECORD_LABEL, USERS_NAMESPACE } from './names.ts'

export const usageRef = { apiVersion: 'v1', kind: 'Secret', name: 'analytics', namespace: USERS_NAMESPACE } as const

/** Returns the record of the counts, with a key for each day. Like all records in this namespace, it is a Secret. */
export const fromUsage = (days: ReadonlyMap<string, UsageDay>): KubeObject => ({
  apiVersion: usageRef.apiVersion,
  kind: usageRef.kind,
  metadata: { name: usageRef.name, namespace: usageRef.namespace, labels: { [RECORD_LABEL]: 'usage' } },
  data: Object.fromEntries([...days].map(([day, counts]) => [day, toData(counts)])),
})

export const toData = (counts: UsageDay): string => Buffer.from(JSON.stringify(counts)).toString('base64')

/** Returns the counts by day. Invalid entries are skipped. */
export function toUsage(live: KubeObject | undefined): ReadonlyMap<string, UsageDay> {
  const data = live?.['data']
  if (typeof data !== 'object' || data === null) return new Map()
  return new Map(
    Object.entries(data).flatMap(([day, text]) => {
      const counts = /^\d{4}-\d\d-\d\d$/.test(day) ? toDay(text) : undefined
      return counts ? [[day, counts] as const] : []
    }),
  )
}

function toDay(text: unknown): UsageDay | undefined {
  try {
    const found: unknown = JSON.parse(Buffer.from(String(text), 'base64').toString())
    if (!isMap(found)) return undefined
    const { commands, versions, systems } = found
    const named = isMap(commands) ? Object.entries(commands).map(([name, one]) => [name, toCounts(one)]) : []
    return {
      ...NO_USAGE,
      commands: Object.fromEntries(named),
      versions: toCounts(versions),
      systems: toCounts(systems),
    }
  } catch {
    return undefined
  }
}

const toCounts = (found: unknown): Readonly<Record<string, number>> =>
  Object.fromEntries(
    isMap(found) ? Object.entries(found).flatMap(([key, one]) => (isCount(one) ? [[key, one] as const] : [])) : [],
  )

const isCount = (found: unknown): found is number => Number.isSafeInteger(found) && Number(found) >= 0

const isMap = (found: unknown): found is Readonly<Record<string, unknown>> =>
  typeof found === 'object' && found !== null && !Array.isArray(found)
