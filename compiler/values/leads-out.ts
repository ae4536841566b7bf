/**
 * Returns true if a relative path leads out of the folder that it is relative to. The name of a file inside may begin
 * with two dots, too: `..env`.
 */
export const leadsOut = (path: string): boolean => /^\.\.(?:$|[/\\])/.test(path)
