import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Reporter } from '../../diagnostics/reporter.ts'
import { type Entry, entry, get, isMap, type MapTree, withEntry, withoutKeys } from '../../text/tree.ts'

const nameOfService = diagnostic({
  code: 'jobs/name-of-service',
  severity: 'error',
  explain: 'A service and a job have the same name. Both are targets of `devctl run`, so their names must differ.',
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is a service and a job`,
    hint: 'rename one of them',
  }),
})
const awaited = diagnostic({
  code: 'jobs/awaited',
  severity: 'error',
  explain: `A service cannot wait for a job, which runs on a schedule or when a user starts it. For something that runs once at a deploy, write a service:

\`\`\`yaml
services:
  migrate:
    image: ghcr.io/acme/shop
    command: migrate
    restart: "no"
\`\`\``,
  text: (p: { name: string }) => ({
    message: `\`${p.name}\` is a job, which nothing can wait for`,
    hint: 'for something that runs once at a deploy, write a service with `restart: "no"`',
  }),
})

/**
 * Moves the jobs of a model to its services, where `triggers` distinguishes them, because a job has most of the keys of
 * a service. Reports jobs with the name of a service, which are removed, and services that depend on jobs.
 */
export function jobsAsServices(model: MapTree, reporter: Reporter): MapTree {
  const jobs = entry(model, 'jobs')
  if (!jobs) return model
  const rest = withoutKeys(model, 'jobs')
  if (!isMap(jobs.value)) return rest
  const services = get(model, 'services')
  const all = new Map<string, Entry>(isMap(services) ? services.entries : [])
  const names = new Set<string>()
  for (const [name, job] of jobs.value.entries) {
    const service = all.get(name)
    if (service)
      reporter.report(nameOfService, job.key, { name }, [{ span: service.key, message: 'the service is here' }])
    else names.add(name)
    if (!service) all.set(name, job)
  }
  for (const { value } of all.values()) {
    const dependencies = get(value, 'depends_on')
    if (isMap(dependencies))
      for (const [name, { key }] of dependencies.entries) if (names.has(name)) reporter.report(awaited, key, { name })
  }
  const span = isMap(services) ? services.span : jobs.value.span
  return withEntry(rest, 'services', { kind: 'map', span, entries: all }, entry(model, 'services')?.key ?? jobs.key)
}

/** Moves the services with `triggers` of a loaded model back to its jobs, as in the files. */
export function servicesAsJobs(model: MapTree): MapTree {
  const services = get(model, 'services')
  if (!isMap(services)) return model
  const jobs = [...services.entries].filter(([name]) => isJob(model, name))
  if (jobs.length === 0) return model
  const rest = withoutKeys(services, ...jobs.map(([name]) => name))
  const others = rest.entries.size > 0 ? withEntry(model, 'services', rest) : withoutKeys(model, 'services')
  return withEntry(others, 'jobs', { ...services, entries: new Map(jobs) })
}

/** Returns true for the name of a job in a loaded model. */
export const isJob = (model: MapTree | undefined, name: string): boolean =>
  get(model, 'services', name, 'triggers') !== undefined
