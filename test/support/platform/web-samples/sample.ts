import type { RouteName } from '../../../../platform/api/routes.ts'
import type { Answer, Call } from '../../../../platform/server/handlers/handler.ts'
import type { SampleTeam } from './team.ts'

/** A validated request of a page, and the team that it is about. */
export interface SampleCall<N extends RouteName>
  extends Pick<Call<N>, 'params' | 'query' | 'body' | 'after' | 'signal'> {
  readonly team: SampleTeam
}

/**
 * The sample of a route: a function that returns its reply or its events, typed by the route table. Throws a
 * PlatformError to refuse a request, as the platform does.
 */
export type Sample<N extends RouteName> = (call: SampleCall<N>) => Answer<N> extends undefined ? void : Answer<N>

/** Samples of some routes. */
export type Samples = { readonly [N in RouteName]?: Sample<N> }
