import type { OpenedRequest } from '../../../gitops/publish/target/request.ts'

/**
 * Returns the address of an open pull request. If the user still has to open the pull request, returns its text and the
 * address for that instead.
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
