import { text } from './option.ts'

/** Option for a token that other programs on this machine must not see, as they see arguments. */
export const tokenFile = text('--token-file <path>', 'file with the token; `-` for standard input', {
  completes: 'file',
})
