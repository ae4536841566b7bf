import type { BodyOf, ParamsOf, ReplyOf, RouteName, Routes } from '../api/routes.ts'
import type { Identified } from './caller.ts'

/** A checked request. */
export interface Call<N extends RouteName> {
  readonly params: ParamsOf<N>
  readonly body: BodyOf<N>
  readonly by: Routes[N]['caller'] extends 'nobody' ? undefined : Identified
}

export type RouteHandler<N extends RouteName> = (call: Call<N>) => Promise<ReplyOf<N>>

/** One handler for each route of the table. */
export type Handlers = { readonly [N in RouteName]: RouteHandler<N> }
