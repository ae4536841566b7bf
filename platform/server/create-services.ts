import { makePools, type Pools } from './builds/builder-pool.ts'
import type { ServerContext } from './context.ts'
import { Hooks } from './hooks/hooks.ts'
import { UserClusters } from './http/user-clusters.ts'
import { TaskFailures } from './leader/task-failures.ts'
import { Usage } from './leader/usage.ts'
import { LiveNamespaces } from './live/live-namespaces.ts'
import { CiExchange } from './login/ci-exchange.ts'
import { Logins } from './login/logins.ts'
import { makeProviders } from './login/providers/make-providers.ts'
import type { IdentityProvider } from './login/providers/provider.ts'
import { Tokens } from './login/tokens.ts'
import { Users } from './login/users.ts'
import { type CloneLogin, ForgeCredentials } from './namespaces/credentials.ts'
import { NamespaceDeletions } from './namespaces/deletions.ts'
import { LongerNames } from './namespaces/longer-names.ts'
import { Members } from './namespaces/members.ts'
import { NamespaceIndex } from './namespaces/namespace-index.ts'
import { Namespaces } from './namespaces/namespaces.ts'
import { Overviews } from './namespaces/overviews.ts'
import { PersonalNamespaces } from './namespaces/personal-namespaces.ts'
import { PlatformVariables } from './namespaces/variables.ts'
import { PreviewUrls } from './previews/preview-urls.ts'
import { Previews } from './previews/previews.ts'
import { PullSecrets } from './registry/pull-secrets.ts'
import { RegistryUsage } from './registry/registry-usage.ts'
import { RunLogs } from './runs/run-logs.ts'
import { Runs } from './runs/runs.ts'
import { Sleep } from './sleep/sleep.ts'
import { Waker } from './sleep/waker/waker.ts'

/** The parts of the server that handle requests. */
export interface Services {
  readonly users: Users
  readonly tokens: Tokens
  readonly variables: PlatformVariables
  readonly credentials: ForgeCredentials
  readonly namespaces: Namespaces
  readonly members: Members
  readonly personal: PersonalNamespaces
  readonly longerNames: LongerNames
  readonly pullSecrets: PullSecrets
  /** Disk usage of the images in the platform's own registry. */
  readonly registryUsage: RegistryUsage
  readonly logins: Logins
  readonly live: LiveNamespaces
  readonly ci: CiExchange
  readonly providers: ReadonlyMap<string, IdentityProvider>
  readonly sleep: Sleep
  readonly runs: Runs
  readonly previews: Previews
  readonly previewUrls: PreviewUrls
  readonly deletions: NamespaceDeletions
  readonly hooks: Hooks
  readonly runLogs: RunLogs
  /**
   * Returns the forge credential for a run in a namespace; undefined if there is none. If a webhook started the run,
   * `user` is undefined, and no user's credential is returned.
   */
  gitLogin(user: string | undefined, namespace: string, host: string): Promise<CloneLogin | undefined>
  readonly index: NamespaceIndex
  readonly waker: Waker
  /** Anonymous usage counts of commands. */
  readonly usage: Usage
  readonly pools: Pools
  /** Failing tasks of the leader; empty if this replica does not lead. */
  readonly failing: TaskFailures
  /** The overview for administrators. */
  readonly overviews: Overviews
}

export function createServices(world: ServerContext): Services {
  const users = new Users(world)
  const tokens = new Tokens(world)
  const accounts = { users, tokens }
  const pullSecrets = new PullSecrets(world)
  const hooks = new Hooks(world)
  const members = new Members(world, pullSecrets)
  const longerNames = new LongerNames(world)
  const namespaces = new Namespaces(world, { users, hooks, members, longerNames, pullSecrets })
  const credentials = new ForgeCredentials(world)
  const sleep = new Sleep(world)
  const index = new NamespaceIndex(world)
  const registryUsage = new RegistryUsage(world, index)
  const runs = new Runs(world, namespaces)
  const failing = new TaskFailures()
  const live = new LiveNamespaces(world, new UserClusters(world, accounts), accounts, index)
  const pools = makePools(world.settings.builders)
  return {
    users,
    tokens,
    variables: new PlatformVariables(world),
    credentials,
    namespaces,
    members,
    personal: new PersonalNamespaces(world, { users, namespaces, hooks }),
    longerNames,
    pullSecrets,
    registryUsage,
    logins: new Logins(world),
    live,
    ci: new CiExchange(world, { users, tokens }),
    providers: makeProviders(world),
    runs,
    runLogs: new RunLogs(world, { users, tokens, runs }),
    deletions: new NamespaceDeletions(world, { users, namespaces, members, runs }),
    hooks,
    previews: new Previews(world, { users, namespaces, runs }),
    previewUrls: new PreviewUrls(world, live),
    gitLogin: async (user, name, host) => {
      const uid = (await namespaces.find(name))?.namespace.uid
      return uid === undefined ? undefined : credentials.loginFor({ name, uid }, user, host)
    },
    sleep,
    index,
    usage: new Usage(world),
    pools,
    failing,
    overviews: new Overviews(world, { users, runs, index, pools, failing, registryUsage }),
    waker: new Waker(world, index, sleep),
  }
}
