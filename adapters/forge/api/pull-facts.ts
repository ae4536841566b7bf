import type { RepositoryFacts } from '../facts.ts'
import type { Calls, ForgeCall } from '../forge-module.ts'
import { forgePermission, forgeRepository, pullFacts } from './answers.validators.ts'
import { unlessRefused } from './failures.ts'
import { pullCalls } from './pull-calls.ts'

/** Permissions that allow a push; `owner` is what Gitea reports for owners. */
const WRITERS: ReadonlySet<string> = new Set(['admin', 'owner', 'write'])

/**
 * Returns access to the facts about a repository through the API that Gitea copied from GitHub:
 * https://docs.github.com/rest/pulls, https://docs.gitea.com/api/
 */
export function pullFactsOf(api: Calls): RepositoryFacts {
  const { root } = pullCalls(api)
  const get = (path: string, purpose: string, signal: AbortSignal | undefined): ForgeCall => ({
    method: 'GET',
    path: `${root}${path}`,
    purpose,
    mayRepeat: true,
    signal,
  })
  return {
    async repository({ signal } = {}) {
      const { id, permissions } = await api.object(get('', 'read the repository', signal), forgeRepository)
      return { id: String(id), mayWrite: permissions?.push === true }
    },

    async pull(number, { signal } = {}) {
      const call = get(`/pulls/${number}`, `read pull request ${number}`, signal)
      const found = await api.object(call, pullFacts)
      const { repo } = found.head
      // Gitea does not report the type of an owner, but people and organizations share one id range.
      const isPerson = repo?.owner.type === undefined || repo.owner.type === 'User'
      return {
        number: found.number,
        isOpen: found.state === 'open',
        page: found.html_url,
        title: found.title ?? '',
        author: { id: String(found.user.id), login: found.user.login },
        base: String(found.base.repo.id),
        commit: found.head.sha,
        branch: found.head.ref,
        head: repo
          ? { id: String(repo.id), url: repo.clone_url, ...(isPerson && { owner: String(repo.owner.id) }) }
          : undefined,
      }
    },

    mayWrite: ({ id, login }, { signal } = {}) => {
      const path = `/collaborators/${encodeURIComponent(login)}/permission`
      const call = get(path, `ask what ${login} may do`, signal)
      const asked = api
        .object(call, forgePermission)
        // The name may now belong to another user.
        .then(({ permission, user }) => WRITERS.has(permission) && String(user.id) === id)
      return unlessRefused(asked)
    },
  }
}
