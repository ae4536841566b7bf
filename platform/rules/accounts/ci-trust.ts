/** The jobs of a CI system that get a token, and the previews that they may create with it. */
export interface CiTrust {
  readonly kind: CiKind
  /** The issuer, exactly as it appears in the tokens: `https://token.actions.githubusercontent.com`. */
  readonly issuer: string
  readonly rules: readonly CiRule[]
}

/**
 * Properties that a job must have; a job has to match all properties that are present. A rule contains the number of a
 * repository or of an owner, because names can be reassigned.
 */
export interface CiRule {
  readonly repository?: string
  readonly owner?: string
  /** Git ref, such as `refs/heads/main`, in which `*` matches any text. If absent, the rule matches all refs. */
  readonly ref?: string
  /**
   * Event, such as `push`. If absent, the rule matches all events for which only code of people with write access runs.
   */
  readonly event?: string
  /** Prefix of the names of the job's previews. */
  readonly prefix: string
}

export const CI_KINDS = ['github', 'gitlab', 'gitea'] as const
export type CiKind = (typeof CI_KINDS)[number]

/** A CI job, as described by the claims of its token. */
export interface CiJob {
  readonly repository: string
  readonly owner: string
  /** Name for display, such as `acme/shop`. */
  readonly name: string
  readonly ref: string
  readonly event: string
}

type Claims = Readonly<Record<string, unknown>>

/**
 * Names of the claims, by kind of CI system (https://docs.github.com/actions/concepts/security/openid-connect,
 * https://docs.gitlab.com/ci/secrets/id_token_authentication/).
 */
const ACTIONS = {
  repository: 'repository_id',
  owner: 'repository_owner_id',
  name: 'repository',
  ref: 'ref',
  event: 'event_name',
}
const CLAIMS: Readonly<Record<CiKind, Readonly<Record<keyof CiJob, string>>>> = {
  github: ACTIONS,
  gitea: ACTIONS,
  gitlab: {
    repository: 'project_id',
    owner: 'namespace_id',
    name: 'project_path',
    ref: 'ref_path',
    event: 'pipeline_source',
  },
}
/**
 * Events that a fork cannot influence. The set does not contain `pull_request_target`, `workflow_run` and comments,
 * because these can run the code of any user.
 */
const EVENTS: ReadonlySet<string> = new Set([
  'push',
  'pull_request',
  'workflow_dispatch',
  'schedule',
  'delete',
  'merge_request_event',
  'web',
  'api',
])

/** Returns the job that the claims describe; undefined if a claim that has to be a number is not one. */
export function toCiJob(kind: CiKind, claims: Claims): CiJob | undefined {
  const value = (key: keyof CiJob) => {
    const found = claims[CLAIMS[kind][key]]
    return typeof found === 'string' ? found : typeof found === 'number' ? String(found) : ''
  }
  const [repository, owner] = [value('repository'), value('owner')]
  if (!isNumber(repository) || !isNumber(owner)) return undefined
  return { repository, owner, name: value('name').slice(0, 200), ref: value('ref'), event: value('event') }
}

/** Returns the first rule that matches a job; undefined if no rule matches. */
export const ruleFor = (job: CiJob, rules: readonly CiRule[]): CiRule | undefined =>
  rules.find(
    ({ repository, owner, ref, event }) =>
      (repository !== undefined || owner !== undefined) &&
      (repository === undefined || repository === job.repository) &&
      (owner === undefined || owner === job.owner) &&
      (ref === undefined || fits(job.ref, ref)) &&
      (event === undefined ? EVENTS.has(job.event) : event === job.event),
  )

/**
 * Returns the reserved prefix that the name of a namespace begins with, the longest one if several match; undefined if
 * there is none. Only jobs of a repository may use such names.
 */
export const reservedPrefix = (name: string, all: readonly CiTrust[]): string | undefined =>
  all
    .flatMap(({ rules }) => rules.map(({ prefix }) => prefix))
    .filter(prefix => name.startsWith(prefix))
    .sort((a, b) => b.length - a.length)[0]

/** Returns the subject of the user that represents the jobs of a repository. No person can have such a subject. */
export const jobsOf = (repository: string): string => `repository ${repository}`

/** True if a user represents the jobs of a repository. */
export const isJobs = (
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
  all: readonly CiTrust[],
): boolean => all.some(one => one.issuer === issuer) && /^repository \d+$/.test(subject)

/** True if a rule may give a reserved prefix to the jobs that a user represents. */
export const mayHavePrefix = (
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
  prefix: string,
  all: readonly CiTrust[],
): boolean =>
  all.some(
    one =>
      one.issuer === issuer &&
      one.rules.some(
        rule => rule.prefix === prefix && (rule.repository === undefined || jobsOf(rule.repository) === subject),
      ),
  )

/** True if a rule is complete. */
export function isCiRule(one: unknown): one is CiRule {
  const rule = (one ?? {}) as Claims
  const { repository, owner, ref, event, prefix } = rule
  const isText = (value: unknown) => value === undefined || (typeof value === 'string' && value !== '')
  return (
    (repository !== undefined || owner !== undefined) &&
    [repository, owner].every(value => value === undefined || (typeof value === 'string' && isNumber(value))) &&
    isText(ref) &&
    isText(event) &&
    typeof prefix === 'string' &&
    isPrefix(prefix) &&
    Object.keys(rule).every(key => ['repository', 'owner', 'ref', 'event', 'prefix'].includes(key))
  )
}

/** True if a text is a valid prefix. A prefix ends with a dash, so that `shop` does not match `shopping`. */
export const isPrefix = (text: string): boolean => /^[a-z0-9]([a-z0-9-]{0,28}[a-z0-9])?-$/.test(text)

const isNumber = (text: string): boolean => /^[1-9]\d{0,18}$/.test(text)

function fits(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return text === pattern
  const last = rest.pop() ?? ''
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > text.length - last.length) return false
    at = found + part.length
  }
  return true
}
