import { text } from './option.ts'

/** Option for a file with a token. A token as an argument would be visible to other programs on this machine. */
export const tokenFile = text('--token-file <path>', 'file with the token; `-` for standard input', {
  completes: 'file',
})
