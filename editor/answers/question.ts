import type { TextDocument } from 'vscode-languageserver-textdocument'
import { composeShape } from '../../compiler/compose/keys/compose.ts'
import { manifestShape } from '../../compiler/manifest/shape.ts'
import type { Shape } from '../../compiler/schema/shape.ts'
import type { KnownProject } from '../session/known-project.ts'
import type { Outline } from '../text/outline-node.ts'

/** A document, and what is known about its project: the input of every answer. */
export interface AskedDocument {
  /** Absolute path. */
  readonly path: string
  readonly kind: 'manifest' | 'compose'
  readonly document: TextDocument
  readonly outline: Outline
  /** Last compilation that could read the files of the project; absent if there was none. */
  readonly project?: KnownProject
}

/** Returns the table of all keys that a document of this kind can have. */
export const tableOf = ({ kind }: Pick<AskedDocument, 'kind'>): Shape =>
  kind === 'manifest' ? manifestShape : composeShape
