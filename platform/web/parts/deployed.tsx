import { printable } from '../../../compiler/values/printable.ts'
import type { ShownDeploy, ShownPlace } from '../../api/environments.ts'
import { OutsideLink } from './link.tsx'
import { Time } from './time.tsx'

const ENDS: Readonly<Record<string, string>> = {
  failed: ' · failed',
  interrupted: ' · interrupted',
  unknown: ' · not finished, as far as is known',
}

/** Renders who deployed what, in one line. */
export const Deployed = ({
  deploy,
  commitPage,
}: {
  readonly deploy: ShownDeploy
  readonly commitPage?: string | undefined
}) => (
  <span class="deployed">
    deployed <Time at={deploy.at} /> by {printable(deploy.by)}
    {deploy.branch !== undefined && (
      <>
        {' '}
        from <code>{printable(deploy.branch)}</code>
      </>
    )}
    {deploy.commit !== undefined && (
      <>
        {' · '}
        {commitPage === undefined ? (
          <code>{deploy.commit.slice(0, 7)}</code>
        ) : (
          <OutsideLink href={commitPage}>{deploy.commit.slice(0, 7)}</OutsideLink>
        )}
      </>
    )}
    {deploy.subject !== undefined && <> “{printable(deploy.subject)}”</>}
    {deploy.isDirty && ', with uncommitted changes'}
    {deploy.isUnchecked && ', perhaps with uncommitted changes'}
    {deploy.end !== undefined && ENDS[deploy.end]}
  </span>
)

/** Renders a position in a file in the format `file:line`, as a link if the URL of the page at the forge is known. */
export function Place({ place, page }: { readonly place: ShownPlace; readonly page?: string | undefined }) {
  const text = printable(`${place.file}:${place.line}`)
  return page === undefined ? <code>{text}</code> : <OutsideLink href={page}>{text}</OutsideLink>
}
