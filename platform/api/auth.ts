import Type, { type Static } from 'typebox'
import { LOGIN } from '../rules/accounts/login-name.ts'
import { closed, entered, granted, shown, text, time } from './common.ts'
import { me } from './me.ts'
import { route } from './route.ts'

const setup = closed({
  token: text(),
  label: Type.Optional(
    shown(60, {
      description: 'name of a command line, which gets a token; without it, a browser gets a session in a cookie',
    }),
  ),
  login: Type.String({ pattern: LOGIN }),
})
const codeExchange = closed({ code: text(), verifier: Type.String({ minLength: 43, maxLength: 128 }) })
const challenge = closed({ challenge: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }), label: shown(60) })
const code = Type.Object({ code: Type.String() })

const device = Type.Object({
  device: Type.String({ description: 'secret, for the program that polls' }),
  code: Type.String({ description: 'for the person to type' }),
  page: Type.String(),
  interval: Type.Integer({ description: 'least number of seconds between two polls' }),
  expires: time,
})
const typedCode = closed({ code: text(20) })
const deviceLook = Type.Object({ label: Type.String(), created: time })
export type DeviceLook = Static<typeof deviceLook>

/**
 * Routes for logins without a provider, and for the steps of a login after its provider has answered (design, section
 * 4).
 */
export const authRoutes = {
  'POST /auth/setup': route({
    caller: 'nobody',
    body: setup,
    reply: Type.Union([granted, entered]),
    audit: 'setup',
    isSecret: true,
  }),
  'POST /auth/claim': route({ caller: 'person', body: closed({ token: text() }), reply: me, audit: 'claim' }),
  'POST /auth/cli': route({ caller: 'nobody', body: codeExchange, reply: granted, audit: 'login', isSecret: true }),
  'POST /auth/cli/code': route({
    caller: 'person',
    body: challenge,
    reply: code,
    audit: 'allow command line',
    isSecret: true,
  }),
  'POST /auth/ci': route({
    caller: 'nobody',
    body: closed({ jwt: text(16_384) }),
    reply: granted,
    audit: 'login of a CI job',
    isSecret: true,
  }),
  'POST /auth/device': route({
    caller: 'nobody',
    body: closed({ label: shown(60) }),
    reply: device,
    audit: 'ask for device login',
    isSecret: true,
  }),
  'POST /auth/device/poll': route({
    caller: 'nobody',
    body: closed({ device: text() }),
    reply: Type.Union([granted, Type.Object({ isPending: Type.Literal(true) })]),
    audit: 'login by device',
    isSecret: true,
  }),
  'POST /auth/device/look': route({ caller: 'person', body: typedCode, reply: deviceLook }),
  'POST /auth/device/answer': route({
    caller: 'person',
    body: closed({ code: text(20), isAllowed: Type.Boolean() }),
    audit: 'answer device',
  }),
  'POST /auth/logout': route({ caller: 'user', isForCi: true, audit: 'logout' }),
} as const
