import type { OpenedRequest } from '../../../gitops/publish/target/request.ts'

/**
 * Returns the lines about a pull request: its address if it is open. Otherwise, returns its title and text, and how the
 * user can open it.
 */
export function requestLines({ head, base, title, body, page, isOpen, why }: OpenedRequest): readonly string[] {
  if (isOpen) return [page!]
  return [
    '',
    `title: ${title}`,
    '',
    body,
    ...(why === undefined ? [] : [why]),
    page === undefined ? `open a pull request from \`${head}\` to \`${base}\`` : `open it at ${page}`,
  ]
}

/** Returns the pull request as data for JSON output. */
export const requestJson = ({ title, body, page, isOpen }: OpenedRequest) => ({ title, body, page, isOpen })
