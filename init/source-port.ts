import type { Guess } from './application.ts'
import type { ProjectFiles } from './project-files.ts'

/** Patterns of the source text by which programs in any language set the port that they listen on. */
const PATTERNS = [
  /\.listen\(\s*(\d{2,5})\b/,
  /\bPORT['"]?\]?\)?\s*(?:\|\||\?\?|,|or)\s*['"]?(\d{2,5})\b/,
  /\bListenAndServe(?:TLS)?\(\s*"[^"\n]*:(\d{2,5})"/,
  /"(?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::\])?:(\d{2,5})"/,
  /\b(?:PORT|port)\b['"]?\s*(?::=|=|:)\s*['"]?(\d{4,5})\b/,
]

/** Returns the port in the source files. Prefers sources near the root, and patterns that are less ambiguous. */
export function portInSources(files: ProjectFiles, extensions: readonly string[]): Guess<number> | undefined {
  const sources = [...files.sources(extensions)].sort((a, b) => a.split('/').length - b.split('/').length)
  const texts = sources.map(path => [path, files.text(path) ?? ''] as const)
  for (const pattern of PATTERNS)
    for (const [path, text] of texts) {
      const port = Number(pattern.exec(text)?.[1])
      if (port > 0 && port < 65536) return { value: port, from: path }
    }
  return undefined
}
