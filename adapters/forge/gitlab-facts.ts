import { gitlabMember, gitlabProject, mergeFacts } from './api/answers.validators.ts'
import { isNoRight, unlessRefused } from './api/failures.ts'
import type { ForgePull, RepositoryFacts } from './facts.ts'
import type { Calls, ForgeCall } from './forge-module.ts'

/**
 * Lowest access level that may write, the level of a developer: https://docs.gitlab.com/api/access_requests/ (valid
 * access levels)
 */
const WRITER = 30

/**
 * Returns access to the facts about a GitLab project and its merge requests:
 * https://docs.gitlab.com/api/merge_requests/
 */
export function gitlabFacts(api: Calls): RepositoryFacts {
  const root = `/projects/${encodeURIComponent(api.site.path)}`
  const get = (path: string, purpose: string, signal: AbortSignal | undefined): ForgeCall => ({
    method: 'GET',
    path,
    purpose,
    mayRepeat: true,
    signal,
  })

  /**
   * Returns the project that contains the branch of a merge request; undefined for a fork that is deleted or private.
   */
  async function headOf(project: number | null, signal: AbortSignal | undefined): Promise<ForgePull['head']> {
    if (project === null) return undefined
    try {
      const call = get(`/projects/${project}`, 'read the project of the branch', signal)
      const { id, http_url_to_repo: url, namespace, owner } = await api.object(call, gitlabProject)
      const isPerson = namespace.kind === 'user' && owner
      return { id: String(id), url, ...(isPerson && { owner: String(owner.id) }) }
    } catch (error) {
      if (isNoRight(error)) return undefined
      throw error
    }
  }

  return {
    async repository({ signal } = {}) {
      const { id, permissions } = await api.object(get(root, 'read the project', signal), gitlabProject)
      const levels = [permissions?.project_access, permissions?.group_access].map(one => one?.access_level ?? 0)
      return { id: String(id), mayWrite: Math.max(...levels) >= WRITER }
    },

    async pull(number, { signal } = {}) {
      const call = get(`${root}/merge_requests/${number}`, `read merge request ${number}`, signal)
      const found = await api.object(call, mergeFacts)
      return {
        number: found.iid,
        // The state is `locked` while the request is being merged.
        isOpen: found.state === 'opened' || found.state === 'locked',
        page: found.web_url,
        title: found.title ?? '',
        author: { id: String(found.author.id), login: found.author.username },
        base: String(found.target_project_id),
        commit: found.sha ?? '',
        branch: found.source_branch,
        head: await headOf(found.source_project_id, signal),
      }
    },

    mayWrite: ({ id, login }, { signal } = {}) => {
      const call = get(`${root}/members/all/${encodeURIComponent(id)}`, `ask what ${login} may do`, signal)
      const asked = api
        .object(call, gitlabMember)
        .then(found => found.access_level >= WRITER && found.state === 'active' && String(found.id) === id)
      return unlessRefused(asked)
    },
  }
}
