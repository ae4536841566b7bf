import type { Pages } from '../forge-module.ts'

/**
 * Returns the addresses of a repository's web pages in the format of GitHub, which Gitea has copied:
 * https://docs.github.com/pull-requests/reference/using-query-parameters-to-create-a-pull-request
 */
export function pullPages(root: string): Pages {
  const branch = (name: string) => name.split('/').map(encodeURIComponent).join('/')
  return {
    requestsPage: `${root}/pulls`,
    commitPage: commit => `${root}/commit/${commit}`,
    newRequestPage: ({ head, base, title }) =>
      `${root}/compare/${branch(base)}...${branch(head)}?${new URLSearchParams({ quick_pull: '1', title })}`,
  }
}
