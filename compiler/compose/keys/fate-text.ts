import type { Row } from '../../schema/shape.ts'

/** Returns the fate of a key in the words of docs/compose/. */
export function fateText({ fate, loss }: Row): string {
  switch (fate) {
    case 'none':
      return loss?.severity === 'info' ? 'no effect (info)' : 'no effect'
    case 'cli':
      return 'devctl'
    default:
      return fate
  }
}
