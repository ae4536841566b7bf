import type { BuildInput, CompilerHost, SpendOnBuild } from './host.ts'

/**
 * Returns a host that reads each file, folder and build from another host only once. Used to plan variants of a project
 * that has been read.
 */
export function rememberingHost(host: CompilerHost): CompilerHost {
  const builds = new Map<string, string | undefined>()
  const hashBuild = (build: BuildInput, spend?: SpendOnBuild): string | undefined => {
    const key = JSON.stringify(build)
    if (!builds.has(key)) builds.set(key, host.hashBuild(build, spend))
    return builds.get(key)
  }
  return {
    readFile: remembering(path => host.readFile(path)),
    readDirectory: remembering(path => host.readDirectory(path)),
    stat: remembering(path => host.stat(path)),
    realPath: remembering(path => host.realPath(path)),
    variable: name => host.variable(name),
    ...(host.secretVariables && { secretVariables: host.secretVariables }),
    environment: host.environment,
    ...(host.outside && { outside: remembering(path => host.outside!(path)) }),
    hashBuild,
    homeDirectory: host.homeDirectory,
    checkout: remembering(folder => host.checkout(folder)),
  }
}

function remembering<Result>(ask: (path: string) => Result): (path: string) => Result {
  const known = new Map<string, Result>()
  return path => {
    if (!known.has(path)) known.set(path, ask(path))
    return known.get(path)! // set above; undefined is among the values of Result if it can be an answer
  }
}
