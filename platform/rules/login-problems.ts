/** Why a login in a browser failed: the codes of `/login?problem=…`, and their texts. */
export const LOGIN_PROBLEMS = {
  refused: { message: 'The login was refused.', hint: 'Try again, or use another account.' },
  expired: {
    message: 'This login took too long, or was started in another window.',
    hint: 'Log in again.',
  },
  'not-admitted': {
    message: 'This account may not use the platform.',
    hint: 'An administrator of the platform decides which groups or organisations may.',
  },
  suspended: { message: 'This account is suspended.', hint: 'Ask an administrator of the platform.' },
  'provider-down': { message: 'The login provider does not answer.', hint: 'Try again in a moment.' },
  'provider-setup': {
    message: 'The login provider does not accept this platform.',
    hint: 'An administrator should compare the client id, the client secret and the callback address with what is registered there.',
  },
  'provider-answer': {
    message: 'The login provider sent a response that cannot be trusted.',
    hint: 'An administrator of the platform can find the reason in its log.',
  },
  'too-many': { message: 'Too many attempts.', hint: 'Wait a minute, and log in again.' },
  failed: { message: 'Something went wrong in the platform.', hint: 'Try again in a moment.' },
} as const satisfies Readonly<Record<string, { readonly message: string; readonly hint: string }>>

export type LoginProblem = keyof typeof LOGIN_PROBLEMS
