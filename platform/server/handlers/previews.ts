import type { Preview, PreviewDetails, previewRoutes } from '../../api/previews.ts'
import { previewStatus } from '../../rules/previews/previews.ts'
import type { Services } from '../create-services.ts'
import { personOf, toRunAnswer } from '../http/answers.ts'
import type { Identified } from '../http/caller.ts'
import { PlatformError } from '../http/platform-error.ts'
import { roleIn } from '../namespaces/shared-namespace.ts'
import type { ShownPreview } from '../previews/previews.ts'
import type { HandlersOf } from './handler.ts'

/** Maximum number of URLs sent for a preview, shorter ones first. Any user with write access can create many routes. */
const MOST_URLS = 100

type Parts = Pick<Services, 'users' | 'deletions' | 'previews' | 'previewUrls' | 'runLogs' | 'live'>

export function previewHandlers({
  users,
  deletions,
  previews,
  previewUrls,
  runLogs,
  live,
}: Parts): HandlersOf<typeof previewRoutes> {
  const toAnswer = (
    { user }: Identified,
    { shared, source, runs }: ShownPreview,
    people: Awaited<ReturnType<typeof users.byId>>,
  ): Preview => {
    const { name, status, isGlobal, owner, created, lastActive, isPersistent, deletion, waits } = shared.namespace
    const { isUntrusted, expires } = shared.namespace
    const { hook: _, ...shown } = source
    const role = roleIn(shared, user)
    const [run] = runs
    return {
      name,
      status: previewStatus(status, runs),
      scope: isGlobal ? 'global' : 'personal',
      owner: personOf(owner, people),
      ...(role && { role }),
      ...shown,
      labels: [...source.labels],
      created,
      lastActive,
      ...(isPersistent && { isPersistent }),
      ...(deletion?.problem !== undefined && { deleteProblem: deletion.problem }),
      ...(waits !== undefined && { deleteWaits: waits }),
      ...(isUntrusted && { isUntrusted }),
      ...(expires !== undefined && { expires }),
      ...(run && { run: toRunAnswer(run, people) }),
    }
  }

  /**
   * Returns the URLs of the services in a namespace, and the first problem of these services, read with the rights of
   * the caller. An administrator who is not a member gets neither.
   */
  const inside = async (by: Identified, name: string): Promise<Pick<PreviewDetails, 'endpoints' | 'problem'>> => {
    const all = await live
      .look(by, name, view => view.environments())
      .catch(error => {
        if (error instanceof PlatformError && [403, 404].includes(error.status)) return []
        throw error
      })
    const services = all.flatMap(one => one.services)
    const urls = [...new Set(services.flatMap(one => one.endpoints))]
    const [first] = services.flatMap(({ name, problems }) =>
      problems.map(({ code, message }) => ({ name, code, message })),
    )
    return {
      endpoints: urls
        .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
        .slice(0, MOST_URLS)
        .map(url => {
          const behind = services.filter(({ endpoints }) => endpoints.includes(url))
          return { url, services: behind.map(one => one.name), ready: behind.every(({ state }) => state === 'ready') }
        }),
      ...(first && { problem: { service: first.name, code: first.code, message: first.message } }),
    }
  }

  return {
    'GET /previews': async ({ query, by, signal }) => {
      const [all, people] = await Promise.all([previews.visible(by), users.byId()])
      const found = all.filter(({ source }) => query.label === undefined || source.labels.includes(query.label))
      const urls = query.urls ? await previewUrls.of(by, found, signal) : new Map<string, readonly string[]>()
      const items = found.map(one => {
        const own = urls.get(one.shared.namespace.name)
        return { ...toAnswer(by, one, people), ...(own && { urls: [...own] }) }
      })
      return { items: items.sort((a, b) => (a.name < b.name ? -1 : 1)) }
    },
    'POST /previews': async ({ body, by, note }) => {
      // The name is the only detail that is audited if the request is refused.
      if (body.name !== undefined) note({ what: { name: body.name } })
      const made = await previews.deploy(by, body)
      const [run] = made.runs
      note({ what: { name: made.shared.namespace.name, ...(run && { run: run.id }) } })
      return toAnswer(by, made, await users.byId())
    },
    'GET /previews/:name': async ({ params, by }) => {
      const found = await previews.require(by, params.name, 'see', 'see this')
      const [people, seen] = await Promise.all([users.byId(), inside(by, params.name)])
      return { ...toAnswer(by, found, people), ...seen }
    },
    'DELETE /previews/:name': async ({ params, query, by }) => {
      const { shared } = await previews.require(by, params.name, 'delete', 'destroy it')
      await deletions.begin(shared, { by: by.user.id, isForced: query.force === 'true' })
      return undefined
    },
    'GET /previews/:name/runs/:id/log': async ({ params, by, after, signal }) => {
      const found = await previews.require(by, params.name, 'see', 'see this')
      const run = found.runs.find(({ id }) => id === params.id)
      if (!run) throw new PlatformError(404, 'no-run', `preview \`${params.name}\` has no such run`)
      return runLogs.follow(by, run, after, signal)
    },
  }
}
