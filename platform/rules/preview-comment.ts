import { block, code } from '../../compiler/values/markdown.ts'
import type { PreviewStatus } from './previews.ts'

/** Addresses and services that are listed, and characters of what comes from the code of a branch. */
const MOST = { addresses: 20, services: 10, service: 63, address: 300, problem: 2000 }

const STATES: Readonly<Partial<Record<PreviewStatus, string>>> = {
  Active: '✅ ready',
  Failed: '❌ failed',
  Deploying: '⏳ being deployed',
}

/** What a comment says of a preview. All but its name may be written by whoever pushes to the branch. */
export interface ToldPreview {
  readonly name: string
  readonly status: PreviewStatus
  /** Without services where it is not known which are behind. */
  readonly endpoints: readonly {
    readonly url: string
    readonly services: readonly string[]
    readonly ready?: boolean
  }[]
  readonly problem?: { readonly service: string; readonly message: string }
  readonly run?: { readonly commit?: string; readonly reason?: string }
}

/** By it the one comment of a preview is found again. */
export const commentMarker = (name: string): string => `<!-- devctl preview ${name} -->`

/**
 * What a preview is at, for who reads a pull request; `said` is the first problem in the words of the deploy. What comes
 * from the code of the branch is shown as text only.
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
    `**Preview [${name}](${page})**: ${STATES[status] ?? status}${commitText(run?.commit)}`,
    ...(addresses.length > 0 ? [[...addresses, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n')] : []),
    ...(why === undefined ? [] : [problemBlock(why)]),
    '',
  ].join('\n\n')
}

/** What somebody has to do for code of a fork to be deployed. */
export const waitingText = (name: string, commit: string, page: string): string =>
  [
    `**Preview [${name}](${page})**: ✋ waits for an approval${commitText(commit)}`,
    'The code is of a fork. Who may write to this repository looks at all of its changes, and then lets this very commit be deployed:',
    block('sh', [`devctl preview approve ${name} --commit ${commit}`]),
    '',
  ].join('\n\n')

/** Why there is no preview of a commit. */
export const refusedText = (name: string, commit: string, problem: string): string =>
  [`**Preview ${code(name)}**: ❌ not deployed${commitText(commit)}`, problemBlock(problem), ''].join('\n\n')

/** What is left of one whose request was closed. */
export const destroyedText = (name: string): string => `**Preview ${code(name)}**: destroyed\n`

const commitText = (commit: string | undefined): string =>
  commit === undefined ? '' : `, commit ${code(commit.slice(0, 12))}`

const problemBlock = (text: string): string => block('text', text.slice(0, MOST.problem).split('\n'))

const cut = (text: string): string => (text.length > MOST.address ? `${text.slice(0, MOST.address)}…` : text)
