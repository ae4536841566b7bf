import { expect } from 'vitest'
import type { Result } from '../run.ts'
import { blocksOf, commandsOf, markOf, pages, printed, type Shown } from './blocks.ts'

/** The commands of a page that are run one after the other, in a copy of a folder of the checkout. */
export interface Session {
  readonly page: string
  readonly folder: string
  readonly shown: readonly Shown[]
}

/** The blocks with a mark (`cluster=FOLDER`) are one session for each page and folder. */
export function sessionsOf(mark: string): readonly Session[] {
  return pages.flatMap(page => {
    const found = new Map<string, readonly Shown[]>()
    for (const block of blocksOf(page)) {
      const folder = markOf(block, mark)
      if (folder) found.set(folder, [...(found.get(folder) ?? []), ...commandsOf(block)])
    }
    return [...found].map(([folder, shown]) => ({ page, folder, shown }))
  })
}

/** Expects that a command has succeeded, and printed the lines of the page, with other names in them. */
export function expectShown({ command, output }: Shown, result: Result, names: Readonly<Record<string, string>>): void {
  const { status, stdout, stderr } = result
  expect(status, `${command}\n${stderr}`).toBe(0)
  const replace = (line: string) =>
    Object.entries(names).reduce((text, [shown, name]) => text.replaceAll(shown, name), line)
  const lines = output.map(replace)
  // A terminal shows the two as they come; here is only what either says as a whole.
  const shows = [stderr + stdout, stdout + stderr].some(text => printed(lines).test(text))
  if (lines.length > 0 && !shows) expect(stderr + stdout, command).toMatch(printed(lines))
}
