import { plural } from '../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { isAncestor } from '../../gitops/ancestry.ts'
import { commitMessage, type MessageInput, subjectOf } from '../../gitops/message.ts'
import { type FolderChange, type Outcome, publish } from '../../gitops/publication.ts'
import type { Rejection } from '../../gitops/rejection.ts'
import { readSource, type SourceCommit } from '../../gitops/source.ts'
import type { Output } from '../../gitops/tree/change.ts'
import { toFiles } from '../../gitops/tree/files.ts'
import type { Facts } from '../../gitops/tree/lock.ts'
import type { Context } from '../command.ts'
import { withDeadline } from '../deadline.ts'
import { plainAddress } from '../deploy-source.ts'
import { repositoryOf } from '../environment-name.ts'
import { wantsColour } from '../io.ts'
import { objectsOf } from '../manifest-files.ts'
import { type OpenProject, openProject } from '../open-project.ts'
import { diffText } from '../print-diff.ts'
import { startProgress } from '../progress/progress.ts'
import { version } from '../version.ts'
import { type CompiledForRepository, compileForRepository, inputsFrom } from './compile-for-repository.ts'
import { type Destination, destinationOf } from './destination.ts'
import { objectChanges } from './object-changes.ts'
import type { PublishingValues } from './options.ts'

export interface PublishValues extends PublishingValues {
  readonly dryRun: boolean
  readonly verify: boolean
  readonly rollback: boolean
  readonly output: 'text' | 'json'
}

/** Compiles an application and commits it to its GitOps repository. */
export async function publishApplication(context: Context, options: PublishValues): Promise<number> {
  const { io, logLevel } = context
  const hint = 'give it longer with `--timeout`; nothing is half published'
  return withDeadline(io, { timeout: options.timeout, hint }, async signal => {
    const progress = await startProgress(io, logLevel, 'text', () => Date.now())
    const project = await openProject(io, options)
    const compiled = await compileForRepository(context, options, project, 'nothing was published')
    if (!compiled) return 1
    const { plan, manifests, directory, inputs } = compiled
    const application = plan.environment.name
    const environment = project.environment?.key
    const to = environment === undefined ? '' : ` for ${environment}`
    progress.tell({ type: 'step', step: 'Compiled', text: `${plural(manifests.length, 'object')}${to}` })

    const destination = destinationOf(io, options, project, application)
    const git = { env: io.env, signal }
    const source = await readSource(directory, [...inputs.keys()], git)
    const repository = repositoryOf(directory)
    const address = repository?.address === undefined ? undefined : plainAddress(repository.address)
    const facts = factsOf(options, project, compiled, source, repository?.top ?? directory, address)
    const input = { application, environment, images: plan.images, repository: address, source }
    let said: MessageInput | undefined
    const outcome = await publish(
      {
        target: destination.target,
        folders: [{ path: destination.path, output: outputOf(compiled, destination, facts, options.takeOver) }],
        rollback: options.rollback,
      },
      {
        ...git,
        dryRun: options.dryRun || options.verify,
        isAncestor: (older, newer) => isAncestor(older, newer, directory, git),
        message: async changes => {
          said = { ...input, changes: await describe(changes, compiled) }
          return commitMessage(said)
        },
        tell: event => {
          if (event.type === 'again') return
          const head = event.head?.slice(0, 7) ?? 'which has no commit yet'
          progress.tell({
            type: 'step',
            step: 'Fetched',
            text: `${destination.target.address.shown} ${event.branch} ${head}`,
          })
        },
      },
    )
    if ('changes' in outcome && outcome.kind === 'pushed') {
      for (const change of outcome.changes) progress.tell({ type: 'step', step: 'Written', text: writtenText(change) })
      const { branch, before, commit, retries } = outcome.pushed
      const from = before === undefined ? '' : `${before.slice(0, 7)} → `
      progress.tell({
        type: 'step',
        step: 'Pushed',
        text: `${branch} ${from}${commit.slice(0, 7)}${triesText(retries)}`,
      })
    }
    progress.pause()
    return tell(context, options, outcome, { destination, source, said, compiled })
  })
}

/** What was found out, as the last words of the command. Gives the exit status. */
async function tell(
  { io }: Context,
  { verify, output }: PublishValues,
  outcome: Outcome,
  made: {
    readonly destination: Destination
    readonly source: SourceCommit | undefined
    readonly said: MessageInput | undefined
    readonly compiled: CompiledForRepository
  },
): Promise<number> {
  const { destination, source, said, compiled } = made
  const from = source ? `${source.path === '.' ? '' : `${source.path} at `}${source.commit.slice(0, 7)}` : 'this folder'
  const json = (record: object) => void io.stdout.write(`${JSON.stringify(record, undefined, 2)}\n`)
  const { path } = destination
  switch (outcome.kind) {
    case 'unchanged':
      if (output === 'json') json({ outcome: 'unchanged', path, branch: outcome.branch, commit: outcome.head })
      else io.stdout.write(`unchanged: ${path} already holds what ${from} renders to\n`)
      return 0
    case 'newer':
      if (output === 'json') json({ outcome: 'newer', path, source: outcome.source })
      else
        io.stdout.write(
          `left as it is: ${path} holds ${outcome.source.slice(0, 7)}, which is newer than ${from} (\`--rollback\` publishes the older one)\n`,
        )
      return 0
    case 'planned': {
      const diffs = await describe(outcome.changes, compiled)
      if (output === 'json') json({ outcome: 'planned', path, branch: outcome.branch, objects: diffs })
      else {
        const colour = wantsColour(io.stdout, io.env)
        io.stdout.write(await diffText(diffs, { colour, now: 0, placeOf: ({ source }) => source }))
        for (const change of outcome.changes) io.stderr.write(`${writtenText(change)}\n`)
      }
      if (!verify) return 0
      throw new UserError(`\`${path}\` does not hold what ${from} renders to`, {
        hint: 'publish it with `devctl publish`',
      })
    }
    case 'pushed': {
      const { commit, branch, before } = outcome.pushed
      if (output === 'json')
        json({
          outcome: 'pushed',
          path,
          branch,
          before,
          commit,
          subject: said && subjectOf(said),
          objects: said?.changes,
        })
      else io.stdout.write(`${said ? subjectOf(said) : commit}\n`)
      return 0
    }
  }
}

async function describe(changes: readonly FolderChange[], { manifests }: CompiledForRepository) {
  const texts = new Map(changes.flatMap(({ before }) => [...before]))
  return objectChanges(await objectsOf(texts), manifests)
}

function outputOf({ plan, manifests }: CompiledForRepository, _: Destination, facts: Facts, takeOver: boolean): Output {
  return {
    environment: plan.environment.name,
    sources: [...new Set(manifests.map(({ source }) => source.split('#', 1)[0]!))].sort(),
    files: toFiles(manifests, 'kustomize'),
    index: true,
    keepOthers: false,
    takeOver,
    facts,
  }
}

function factsOf(
  options: PublishValues,
  { environment }: OpenProject,
  { plan, manifests, inputs }: CompiledForRepository,
  source: SourceCommit | undefined,
  top: string,
  repository: string | undefined,
): Facts {
  const { namespace } = plan.environment
  return {
    ...(environment && { target: environment.key }),
    ...(namespace !== undefined && { namespace }),
    source: {
      ...(repository !== undefined && { repository }),
      ...(source && { path: source.path, commit: source.commit, ...(source.isDirty && { isDirty: true }) }),
    },
    tool: `devctl ${version()}`,
    inputs: inputsFrom(top, inputs),
    images: Object.fromEntries(plan.images),
    options: optionsThatShape(options),
    objects: manifests.map(({ object }) => `${object.kind.toLowerCase()}/${object.metadata.name}`).sort(),
  }
}

/** The options that change what is rendered; those about the repository do not. */
function optionsThatShape(options: PublishValues): Readonly<Record<string, string>> {
  const { name, namespace, domain, routes, gateway, ingressClass, tlsSecret, policy, registry, tag, startOrder } =
    options
  const said = { name, namespace, domain, routes, gateway, ingressClass, tlsSecret, policy, registry, tag, startOrder }
  return Object.fromEntries(
    Object.entries(said).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])),
  )
}

function writtenText({ path, change: { writes, removals }, added }: FolderChange): string {
  const counts = [
    [writes.size - added, 'changed'],
    [added, 'added'],
    [removals.length, 'removed'],
  ] as const
  const words = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`)
  return `${path}: ${words.join(', ')}`
}

const ORDINALS = ['second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

function triesText(retries: readonly Rejection[]): string {
  const last = retries.at(-1)
  if (last === undefined) return ''
  const try_ = ORDINALS[retries.length - 1] ?? `${retries.length + 1}th`
  return ` (${try_} try: ${last === 'race' ? 'another push came first' : 'the connection broke'})`
}
