/** Reasons why a login in a browser failed, by the code in `/login?problem=…`, with their texts. */
export const LOGIN_PROBLEMS = {
  refused: { message: 'The login was refused.', hint: 'Try again, or use another account.' },
  expired: {
    message: 'This login took too long, or was started in another window.',
    hint: 'Log in again.',
  },
  'not-admitted': {
    message: 'This account is not allowed to use the platform.',
    hint: 'An administrator decides which groups or organisations can log in.',
  },
  suspended: { message: 'This account is suspended.', hint: 'Ask an administrator.' },
  'provider-down': { message: 'The login provider does not answer.', hint: 'Try again in a moment.' },
  'provider-setup': {
    message: 'The login provider does not accept this platform.',
    hint: 'An administrator has to check the client ID, the client secret and the callback URL that are registered there.',
  },
  'provider-answer': {
    message: 'The login provider sent a response that cannot be trusted.',
    hint: 'An administrator can find the reason in the log of the platform.',
  },
  'no-refresh': {
    message: 'The login provider sent no refresh token.',
    hint: 'An administrator can find the reason in the log of the platform.',
  },
  'too-many': { message: 'Too many attempts.', hint: 'Wait a minute, and log in again.' },
  failed: { message: 'Something went wrong in the platform.', hint: 'Try again in a moment.' },
} as const satisfies Readonly<Record<string, { readonly message: string; readonly hint: string }>>

export type LoginProblem = keyof typeof LOGIN_PROBLEMS
