import { EventEmitter } from 'node:events'
import type { Person } from '../../../../platform/api/common.ts'
import type { EnvironmentDetails } from '../../../../platform/api/environments.ts'
import type { Webhook } from '../../../../platform/api/hooks.ts'
import type { TokenInfo } from '../../../../platform/api/me.ts'
import type { NamespaceDetails } from '../../../../platform/api/namespaces.ts'
import type { Preview } from '../../../../platform/api/previews.ts'
import type { ReplyOf } from '../../../../platform/api/routes.ts'
import type { Run } from '../../../../platform/api/runs.ts'
import type { ShownUser } from '../../../../platform/api/users.ts'
import type { ShownVariable } from '../../../../platform/api/variables.ts'
import { noNamespace, PlatformError } from '../../../../platform/server/http/platform-error.ts'
import { sampleEnvironments } from './data/environments.ts'
import { sampleNamespaces } from './data/namespaces.ts'
import { ANN, sampleCredentials, sampleTokens, sampleUsers, sampleVariables } from './data/people.ts'
import { sampleHooks, samplePreviews } from './data/previews.ts'
import { sampleRuns } from './data/runs.ts'
import { sampleId } from './ids.ts'
import { timesFrom } from './times.ts'

export type ShownCredential = ReplyOf<'GET /credentials/:scope'>['items'][number]

/** The state of the sample platform. Changes of the pages are made here, and last until the server ends. */
export interface SampleTeam {
  /** Time of the first request in milliseconds since 1970, which all times are relative to. */
  readonly now: number
  /** Emits `change` after each request that may have changed something, for open streams. */
  readonly changes: EventEmitter
  /** Returns the id of another token or webhook. */
  makeId(prefix: string): string
  /** False after a logout, until the next login. */
  isLoggedIn: boolean
  readonly users: ShownUser[]
  readonly tokens: TokenInfo[]
  readonly namespaces: NamespaceDetails[]
  /** Environments by namespace. */
  readonly environments: Map<string, EnvironmentDetails[]>
  readonly previews: Preview[]
  readonly hooks: Webhook[]
  /** Runs, newest first. */
  readonly runs: Run[]
  /** Variables by scope. */
  readonly variables: Map<string, ShownVariable[]>
  /** Git credentials by scope. */
  readonly credentials: Map<string, ShownCredential[]>
}

/** Number of the first id that is given to something that a page creates. */
const FIRST_MADE = 10

export function makeTeam(now: number): SampleTeam {
  const changes = new EventEmitter()
  // Each open stream listens.
  changes.setMaxListeners(0)
  const at = timesFrom(now)
  let made = FIRST_MADE
  return {
    now,
    changes,
    makeId: prefix => sampleId(prefix, ++made),
    isLoggedIn: true,
    users: sampleUsers(at),
    tokens: sampleTokens(at),
    namespaces: sampleNamespaces(at),
    environments: sampleEnvironments(at),
    previews: samplePreviews(at),
    hooks: sampleHooks(at),
    runs: sampleRuns(at),
    variables: sampleVariables(at),
    credentials: sampleCredentials(at),
  }
}

/** The user of all requests, as others see them. */
export const YOU: Person = ANN

export function namespaceOf({ namespaces }: SampleTeam, name: string): NamespaceDetails {
  const found = namespaces.find(one => one.name === name)
  if (!found) throw noNamespace(name)
  return found
}

export function environmentOf(
  team: SampleTeam,
  { ns, env }: { readonly ns: string; readonly env: string },
): EnvironmentDetails {
  namespaceOf(team, ns)
  const found = team.environments.get(ns)?.find(one => one.name === env)
  if (!found) throw new PlatformError(404, 'no-environment', `\`${ns}\` has no environment \`${env}\``)
  return found
}

export function runOf({ runs }: SampleTeam, id: string): Run {
  const found = runs.find(one => one.id === id)
  if (!found) throw new PlatformError(404, 'no-run', 'this run does not exist')
  return found
}

export function userOf({ users }: SampleTeam, id: string): ShownUser {
  const found = users.find(one => one.id === id)
  if (!found) throw new PlatformError(404, 'no-user', 'this user does not exist')
  return found
}

/** Returns a user as others see them. */
export const toPerson = ({ id, login, name }: Person): Person => ({ id, login, ...(name !== undefined && { name }) })

/** Replaces an element of a list, or adds it at the end. */
export function put<T>(list: T[], one: T, isSame: (other: T) => boolean): void {
  const index = list.findIndex(isSame)
  if (index === -1) list.push(one)
  else list[index] = one
}

/** Removes an element of a list, if it exists. */
export function remove<T>(list: T[], isIt: (one: T) => boolean): void {
  const index = list.findIndex(isIt)
  if (index !== -1) list.splice(index, 1)
}

/** Returns the list of a key, and creates it if there is none yet. */
export function listIn<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}
