import type { BuildFailure, DockerfilePlace } from '../../adapters/buildkit/failure.ts'
import { readFile } from '../../adapters/files/read-file.ts'
import type { BuildSpec } from '../../compiler/values/build-spec.ts'

/**
 * Where a step that failed stands. Builders older than 0.9 (Docker Engine 20.10) only say its
 * command: it is looked for in the Dockerfile.
 */
export function dockerfilePlace(
  { place, message }: BuildFailure,
  spec: Pick<BuildSpec, 'context' | 'dockerfile'>,
): DockerfilePlace | undefined {
  if (place && place.text !== '') return place
  const text = textOf(spec)
  if (text === undefined) return undefined
  if (place) return { ...place, text }
  const command = /^executor failed running \[(.*)\]: /s.exec(message)?.[1]?.replace(/^\/bin\/sh -c /, '')
  return command === undefined ? undefined : commandPlace(text, command)
}

function textOf({ context, dockerfile }: Pick<BuildSpec, 'context' | 'dockerfile'>): string | undefined {
  if ('text' in dockerfile) return dockerfile.text
  const content = 'folder' in context ? readFile(dockerfile.path) : undefined
  return content?.kind === 'file' ? new TextDecoder().decode(content.bytes) : undefined
}

/** The only `RUN` with a command. */
function commandPlace(text: string, command: string): DockerfilePlace | undefined {
  const lines = text.split('\n')
  const wanted = plain(command)
  const found: DockerfilePlace[] = []
  for (let start = 0; start < lines.length; start++) {
    let end = start
    while (/\\\s*$/.test(lines[end]!) && end + 1 < lines.length) end++
    const instruction = lines.slice(start, end + 1).join('\n')
    if (/^\s*RUN\s/i.test(instruction) && plain(instruction).endsWith(wanted))
      found.push({ filename: 'Dockerfile', text, start: start + 1, end: end + 1 })
    start = end
  }
  return found.length === 1 ? found[0] : undefined
}

/** A command without line continuations, and without the blanks between its words. */
const plain = (text: string): string => text.replaceAll(/\\\s*\n/g, ' ').replaceAll(/\s+/g, '')
