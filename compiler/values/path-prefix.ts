/**
 * Returns a path prefix without the slash at its end. Kubernetes ignores this slash: `/api/` and `/api` match the same
 * requests.
 */
export const withoutLastSlash = (path: string): string => path.replace(/(?<=.)\/$/, '')
