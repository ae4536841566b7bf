import { realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TextDocument } from 'vscode-languageserver-textdocument'
import { uriOf } from '../../../editor/answers/positions.ts'
import type { AskedDocument } from '../../../editor/answers/question.ts'
import { projectOf } from '../../../editor/session/find-project.ts'
import { outlineOf } from '../../../editor/text/outline.ts'
import { makeFolder } from '../cli/folder.ts'
import { withCursor } from './cursor.ts'

/** A document with a cursor, in a project on disk. */
export interface Asked {
  readonly asked: AskedDocument
  readonly offset: number
  readonly folder: string
}

/**
 * Writes the files of a project, opens the one with the mark of the cursor as an editor does, and compiles the project.
 * `before` is the text that the last compilation has read, if the text with the cursor is broken.
 */
export async function ask(files: Readonly<Record<string, string>>, before?: string): Promise<Asked> {
  const folder = writeFiles(files)
  const [name, marked] = Object.entries(files).find(([, text]) => text.includes('‸'))!
  const { text, offset } = withCursor(marked)
  writeFileSync(join(folder, name), before ?? text)
  const path = join(folder, name)
  const workspace = { cwd: '/', env: { HOME: folder }, readStdin: async () => new Uint8Array() }
  const found = await projectOf({ path, text: before ?? text }, [folder], workspace)
  if (!found) throw new Error(`${name} belongs to no project`)
  const document = TextDocument.create(uriOf(path), 'yaml', 1, text)
  return { asked: { path, document, outline: outlineOf(text), ...found }, offset, folder }
}

/** Writes files into a folder that exists until the end of the test, and returns its path without symbolic links. */
export const writeFiles = (files: Readonly<Record<string, string>>): string => realpathSync(makeFolder(files))
