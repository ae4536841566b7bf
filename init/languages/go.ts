import type { Guess, Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { portInSources } from '../source-port.ts'
import { version } from './versions.ts'

export function recogniseGo(files: ProjectFiles): Recognised | undefined {
  const text = files.text('go.mod')
  if (text === undefined) return undefined
  const named = version(/^go\s+(\S+)/m.exec(text)?.[1], 2)
  const port = portInSources(files, ['.go'])
  return {
    title: 'Go',
    marker: 'go.mod',
    image: named === undefined ? { value: 'golang:1' } : { value: `golang:${named}`, from: 'go.mod' },
    commands: mainPackages(files).map(({ value, from }) => ({ value: `go run ${value}`, ...(from && { from }) })),
    ...(port && { port }),
    debugger: { port: 2345, hint: 'when `dlv debug --headless --listen :2345` runs the program' },
    caches: ['/go/pkg', '/root/.cache/go-build'],
    ignores: [],
  }
}

/**
 * Returns the packages that are programs, in the project's folder or below it, such as in `cmd`. Programs that listen
 * on a port come first.
 */
function mainPackages(files: ProjectFiles): readonly Guess<string>[] {
  const sources = files.sources(['.go']).filter(path => !path.endsWith('_test.go'))
  const mains = sources.filter(path => /^package main\b/m.test(files.text(path) ?? ''))
  // A program that listens on a port is usually the one to develop; others are tools.
  const listens = (path: string) => /\bListen\w*\(/.test(files.text(path) ?? '')
  const ordered = [...mains.filter(listens), ...mains.filter(path => !listens(path))]
  const folderOf = (path: string) => path.slice(0, path.lastIndexOf('/') + 1)
  const folders = [...new Set(ordered.map(folderOf))]
  if (folders.length === 0) return [{ value: '.' }]
  return folders.map(folder => ({
    value: folder === '' ? '.' : `./${folder.slice(0, -1)}`,
    from: `\`package main\` in ${ordered.find(path => folderOf(path) === folder)!}`,
  }))
}
