/**
 * Returns true for standard input and for an open file of the process, such as the `/dev/fd/63` that a shell passes for
 * `<(…)`. Relative paths in such a file are resolved against the working directory.
 */
export const isStream = (path: string): boolean =>
  path === '-' || /^\/dev\/(?:stdin|fd\/\d+)$|^\/proc\/(?:self|\d+)\/fd\/\d+$/.test(path)
