import { inParallel } from '../pool.ts'
import type { Endpoint } from './endpoints.ts'

/** Response from an address, with the fields of `AddressAnswer` in adapters/kubernetes/ask-address.ts. */
export interface Answered {
  readonly status?: number
  readonly certificate?: string
  readonly isLikeNoRoute?: boolean
  readonly failure?: string
}

/**
 * Sends a request to a public address. `entry` is the IP address or host name at which the cluster accepts requests for
 * the route.
 */
export type Ask = (url: string, entry: string | undefined) => Promise<Answered>

/**
 * Returns the endpoints with the responses of their addresses. An endpoint whose Pods are ready counts as ready only if
 * its address responds, too. Sends no request for an endpoint that is not ready anyway, or whose address has a
 * wildcard.
 */
export const withAnswers = (endpoints: readonly Endpoint[], ask: Ask): Promise<readonly Endpoint[]> =>
  inParallel(endpoints, async endpoint => {
    // An endpoint for any host name has no address that could be requested.
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
