import { inParallel } from '../pool.ts'
import type { Endpoint } from './endpoints.ts'

/** The response of an address: `AddressAnswer` of adapters/kubernetes/ask-address.ts. */
export interface Answered {
  readonly status?: number
  readonly certificate?: string
  readonly isLikeNoRoute?: boolean
  readonly failure?: string
}

/** Asks a public address; `entry` is where its route says that the cluster takes requests. */
export type Ask = (url: string, entry: string | undefined) => Promise<Answered>

/**
 * The endpoints with what their addresses answer: one whose Pods are ready is only ready when it
 * answers, too. What is not ready anyway is not asked.
 */
export const withAnswers = (endpoints: readonly Endpoint[], ask: Ask): Promise<readonly Endpoint[]> =>
  inParallel(endpoints, async endpoint => {
    // A host for any name has none that could be asked.
    if (!endpoint.isReady || endpoint.url.includes('*')) return endpoint
    const { status, certificate, ...rest } = await ask(endpoint.url, endpoint.entry)
    const reason = reasonOf(status, rest)
    return {
      ...endpoint,
      isReady: reason === undefined,
      ...(reason !== undefined && { reason }),
      ...(status !== undefined && { status }),
      ...(certificate !== undefined && { certificate: certificateText(certificate, endpoint) }),
    }
  })

const certificateText = (problem: string, { missingSecret }: Endpoint): string =>
  missingSecret === undefined ? problem : `the Secret \`${missingSecret}\` does not exist`

function reasonOf(status: number | undefined, { isLikeNoRoute, failure }: Answered): string | undefined {
  if (status === undefined) return failure ?? 'no answer'
  if (isLikeNoRoute) return `answers ${status}, as for hosts without a route`
  return status >= 500 ? `answers ${status}` : undefined
}
