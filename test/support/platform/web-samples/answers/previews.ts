import type { Webhook } from '../../../../../platform/api/hooks.ts'
import type { Preview } from '../../../../../platform/api/previews.ts'
import { PlatformError } from '../../../../../platform/server/http/platform-error.ts'
import { hookAddress } from '../data/previews.ts'
import type { Samples } from '../sample.ts'
import { remove, type SampleTeam, YOU } from '../team.ts'
import { justNow } from '../times.ts'
import { addNamespace, removeNamespace } from './namespaces.ts'
import { addRun } from './runs.ts'

/** Returns the name that a preview gets if none is chosen. */
const nameOf = (repository: string, branch = 'main'): string =>
  `${repository.split('/').at(-1)}-${branch}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')

const urlsOf = ({ environments }: SampleTeam, { name }: Preview): string[] =>
  (environments.get(name) ?? []).flatMap(one => one.services.flatMap(({ endpoints }) => endpoints))

function pullOf({ hooks }: SampleTeam, name: string): Webhook['pulls'][number] {
  const found = hooks.flatMap(one => one.pulls).find(one => one.preview === name)
  if (!found) throw new PlatformError(404, 'no-preview', `preview \`${name}\` does not exist`)
  return found
}

/** Samples for previews and webhooks. A preview that a page adds has a run that waits, and nothing else. */
export const previewSamples = {
  'GET /previews': ({ team, query }) => ({
    items: team.previews
      .filter(({ labels }) => query.label === undefined || labels.includes(query.label))
      .map(one => ({ ...one, ...(query.urls && { urls: urlsOf(team, one) }) })),
  }),
  'POST /previews': ({
    team,
    body: { cloneLogin: _, variables, name, labels = [], scope = 'personal', ...source },
  }) => {
    const { repository, branch, file, sourceUrl } = source
    const namespace = addNamespace(team, name ?? nameOf(repository, branch), 'preview')
    const which = { repository, ...(branch !== undefined && { branch }) }
    const run = addRun(team, {
      ...{ namespace: namespace.name, environment: namespace.name, action: 'deploy', ...which },
      ...(file !== undefined && { file }),
      ...(variables && { variables }),
    })
    const made: Preview = {
      ...{ name: namespace.name, status: 'Deploying', scope, owner: YOU, role: 'owner', ...which, labels, run },
      ...{ created: justNow(), lastActive: justNow(), ...(sourceUrl !== undefined && { sourceUrl }) },
    }
    team.previews.push(made)
    return made
  },
  'DELETE /previews/:name': ({ team, params }) => removeNamespace(team, params.name),
  'POST /previews/:name/approve': ({ team, params, body }) => {
    const pull = pullOf(team, params.name)
    delete pull.isWaiting
    return Object.assign(pull, { deployed: body.commit })
  },
  'GET /hooks': ({ team }) => ({ items: team.hooks }),
  'POST /hooks': ({ team, body: { token: _, create, repository, ...options } }) => {
    const id = team.makeId('hook')
    const hook: Webhook = {
      ...{ id, repository, owner: YOU, forge: 'gitea', scope: 'personal', forks: 'approve', prefix: 'sample-' },
      ...{ address: hookAddress(id), events: 'Pull Request', pulls: [] },
      ...{ ...options, created: justNow(), ...(create && { isCreated: true }) },
    }
    team.hooks.push(hook)
    return { hook, ...(!create && { secret: 'a-sample-that-opens-nothing' }) }
  },
  'DELETE /hooks/:id': ({ team, params }) => {
    remove(team.hooks, one => one.id === params.id)
    return {}
  },
} satisfies Samples
