import type { OpenedRequest } from '../../../gitops/publish/target/request.ts'

/** The page of a pull request; of one that a person has to open, its text and where that is done. */
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

/** Returns the request as JSON for programs. */
export const requestJson = ({ title, body, page, isOpen }: OpenedRequest) => ({ title, body, page, isOpen })
