import { block, code } from '../../../compiler/values/markdown.ts'
import type { PreviewStatus } from './previews.ts'

/**
 * Maximum number of addresses that are listed, and of services for each address; and maximum lengths in characters of
 * texts from a branch: the name of a service, an address and a problem.
 */
const MOST = { addresses: 20, services: 10, service: 63, address: 300, problem: 2000 }

const STATES: Readonly<Partial<Record<PreviewStatus, string>>> = {
  Active: '✅ ready',
  Failed: '❌ failed',
  Deploying: '⏳ deploying',
}

/**
 * Content of a comment on a preview. A user who can push to the branch controls all of this content except the name.
 */
export interface ToldPreview {
  readonly name: string
  readonly status: PreviewStatus
  /** Endpoints of the preview. `services` is empty if the services of an endpoint and their state are unknown. */
  readonly endpoints: readonly {
    readonly url: string
    readonly services: readonly string[]
    readonly ready?: boolean
  }[]
  readonly problem?: { readonly service: string; readonly message: string }
  readonly run?: { readonly commit?: string; readonly reason?: string }
}

/** Returns an HTML comment that marks the comment about a preview, so that the platform can find the comment again. */
export const commentMarker = (name: string): string => `<!-- devctl preview ${name} -->`

/**
 * Returns the comment that describes the state of a preview to readers of the pull request. `said` contains the first
 * problems as `deploy` printed them; if absent, the comment shows the recorded problem, if there is one. Texts from the
 * branch are shown as plain text.
 */
export function commentText(preview: ToldPreview, page: string, said?: string): string {
  const { name, status, endpoints, problem, run } = preview
  const addresses = endpoints.slice(0, MOST.addresses).map(({ url, services, ready = true }) => {
    const link = /^https?:\/\/[\w.:/-]+$/.test(url) && url.length <= MOST.address ? `<${url}>` : code(cut(url))
    const behind = services.slice(0, MOST.services).map(one => code(one.slice(0, MOST.service)))
    const more = [...behind, ...(ready ? [] : ['not ready'])].join(', ')
    return `- ${link}${more === '' ? '' : ` (${more})`}`
  })
  const left = endpoints.length - addresses.length
  const seen = problem ? `${problem.service}: ${problem.message}` : status === 'Failed' ? run?.reason : undefined
  const why = said?.trimEnd() ?? seen
  return [
    `**Preview [${name}](${page})**: ${stateText(preview)}${commitText(run?.commit)}`,
    ...(addresses.length > 0 ? [[...addresses, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n')] : []),
    ...(why === undefined ? [] : [problemBlock(why)]),
    '',
  ].join('\n\n')
}

/** Describes the status of a preview. A preview whose deploy succeeded can have a problem that occurred later. */
const stateText = ({ status, problem }: ToldPreview): string =>
  status === 'Active' && problem ? '❌ problem' : (STATES[status] ?? status)

/** Returns the comment that explains how to approve a deploy of a fork's code. */
export const waitingText = (name: string, commit: string, page: string): string =>
  [
    `**Preview [${name}](${page})**: ✋ waiting for approval${commitText(commit)}`,
    'This commit comes from a fork. Someone with write access to this repository has to review all of its changes, and then approve it:',
    block('sh', [`devctl preview approve ${name} --commit ${commit}`]),
    '',
  ].join('\n\n')

/** Returns the comment that explains why a commit has no preview. */
export const refusedText = (name: string, commit: string, problem: string): string =>
  [`**Preview ${code(name)}**: ❌ not deployed${commitText(commit)}`, problemBlock(problem), ''].join('\n\n')

/** Returns the final comment on a pull request, which says that the preview was destroyed. */
export const destroyedText = (name: string): string => `**Preview ${code(name)}**: destroyed\n`

const commitText = (commit: string | undefined): string =>
  commit === undefined ? '' : `, commit ${code(commit.slice(0, 12))}`

const problemBlock = (text: string): string => block('text', text.slice(0, MOST.problem).split('\n'))

const cut = (text: string): string => (text.length > MOST.address ? `${text.slice(0, MOST.address)}…` : text)
