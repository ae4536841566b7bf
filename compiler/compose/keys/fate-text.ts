import type { Row } from '../../schema/shape.ts'

/**
 * Returns the words of docs/compose/ for the way in which Kubernetes supports a key, such as `approximated` or `no
 * effect`.
 */
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
