// Finds text that looks like a secret: by the name of its variable, by its shape, or because it is random. Returns only
// positions, never the text, so that no secret is printed.
/** A range of a text that looks like a secret. */
export interface SecretLook {
  /** Kind of secret for a message, such as `a password in a URL`. Never contains the secret. */
  readonly what: string
  readonly start: number
  readonly end: number
  /** True for a secret within a text that is not secret itself, such as a password in a URL. */
  readonly isPart?: boolean
}

interface Shape {
  readonly what: string
  readonly pattern: RegExp
  /**
   * Text that every match of the pattern contains. The pattern is tried only if a text contains it, which most texts do
   * not.
   */
  readonly sign: string
  /** Returns true if the group `value` of the pattern contains an actual value rather than a placeholder. */
  readonly isReal?: (value: string) => boolean
}

/**
 * True unless a value is empty or a placeholder for a secret: `$DB_PASSWORD`, `%s`, `{{ .Password }}`, `<password>`,
 * `***`.
 */
const isWritten = (value: string): boolean =>
  !/^(?:\$.*|%\w+%?|\{.*|<.*|\*+|x{3,}|\.{3,}|\[.*)$/i.test(value) && value !== ''

/**
 * Secrets with a recognizable shape, such as the prefix that a service documents for its tokens. The length limits keep
 * each pattern linear in the length of the text.
 */
const SHAPES: readonly Shape[] = [
  {
    what: 'a private key',
    sign: 'PRIVATE KEY',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g,
  },
  { what: 'a private key', sign: 'AGE-SECRET-KEY-', pattern: /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g },
  { what: 'a private key', sign: 'PuTTY-User-Key-File', pattern: /\bPuTTY-User-Key-File-\d/g },
  {
    what: 'a password in a URL',
    sign: '://',
    pattern: /:\/\/[^\s/:@'"<>]{0,200}:(?<value>[^\s/'"]{1,300})@(?=[\w[$%{<.-])/g,
    isReal: isWritten,
  },
  {
    what: 'a key in a URL',
    sign: '://',
    pattern: /\bhttps?:\/\/(?<value>(?=[A-Za-z_-]{0,99}\d)[\w-]{20,200})@(?=[\w[$%{<.-])/g,
  },
  {
    what: 'a password in a connection string',
    sign: '@',
    pattern: /(?<![\w:/])[\w.-]{1,100}:(?<value>[^\s/@'"]{1,300})@(?:tcp|unix|udp)\(/g,
    isReal: isWritten,
  },
  {
    what: 'a password in a connection string',
    sign: '=',
    pattern:
      /(?:(?<=\S)[?&;]|(?:host|server|user|user id|uid|dbname|database|port)\s?=[^\s;&]{1,100}[\s;&]{1,2})\s{0,2}(?:password|passwd|pwd|secret|access_token|api_?key|token|sharedaccesskey|accountkey)\s{0,2}=\s{0,2}(?<value>[^\s;&'"]{1,300})/gi,
    isReal: isWritten,
  },
  { what: 'an AWS access key', sign: 'A', pattern: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g },
  { what: 'a GitHub token', sign: 'gh', pattern: /\bgh[pousr]_[A-Za-z0-9]{30,}/g },
  { what: 'a GitHub token', sign: 'github_pat_', pattern: /\bgithub_pat_\w{22,}/g },
  {
    what: 'a GitLab token',
    sign: 'gl',
    pattern: /\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w-]{20,}/g,
  },
  { what: 'a Slack token', sign: 'x', pattern: /\b(?:xox[abeoprs]|xapp)-[\w-]{10,}/g },
  {
    what: 'the address of a Slack webhook',
    sign: 'hooks.slack.com/',
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/-]{20,}/g,
  },
  {
    what: 'the address of a Discord webhook',
    sign: '/api/webhooks/',
    pattern: /discord(?:app)?\.com\/api\/webhooks\/\d{5,}\/[\w-]{20,}/g,
  },
  { what: 'a Stripe key', sign: 'k_', pattern: /\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}/g },
  { what: 'a Stripe key', sign: 'whsec_', pattern: /\bwhsec_[A-Za-z0-9+/=]{20,}/g },
  { what: 'a Google key', sign: 'AIza', pattern: /\bAIza[\w-]{35}/g },
  { what: 'a Google token', sign: 'ya29.', pattern: /\bya29\.[\w-]{20,}/g },
  { what: 'a Google secret', sign: 'GOCSPX-', pattern: /\bGOCSPX-[\w-]{20,}/g },
  { what: 'an npm token', sign: 'npm_', pattern: /\bnpm_[A-Za-z0-9]{30,}/g },
  { what: 'a PyPI token', sign: 'pypi-', pattern: /\bpypi-[\w-]{40,}/g },
  { what: 'a Docker token', sign: 'dckr_', pattern: /\bdckr_(?:pat|oat)_[\w-]{20,}/g },
  {
    what: 'the credentials of a registry',
    sign: '"auth"',
    pattern: /"auth"\s{0,8}:\s{0,8}"(?<value>[A-Za-z0-9+/]{8,}={0,2})"/g,
  },
  { what: 'a JSON Web Token', sign: 'eyJ', pattern: /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/g },
  { what: 'an Azure key', sign: 'Key=', pattern: /(?:Account|SharedAccess)Key=(?<value>[A-Za-z0-9+/]{40,}={0,2})/g },
  { what: 'a SendGrid key', sign: 'SG.', pattern: /\bSG\.[\w-]{16,}\.[\w-]{16,}/g },
  { what: 'a Twilio key', sign: 'SK', pattern: /\bSK[0-9a-f]{32}\b/g },
  { what: 'an API key', sign: 'sk-', pattern: /\bsk-(?:proj-|ant-|svcacct-)?[\w-]{20,}/g },
  { what: 'a Hugging Face token', sign: 'hf_', pattern: /\bhf_[A-Za-z0-9]{30,}/g },
  { what: 'a DigitalOcean token', sign: '_v1_', pattern: /\bdo[opr]_v1_[0-9a-f]{64}/g },
  { what: 'a Vault token', sign: 'hv', pattern: /\bhv[sbr]\.[\w-]{20,}/g },
  { what: 'a Grafana token', sign: 'gl', pattern: /\bgl(?:sa|c)_[\w=]{30,}/g },
  { what: 'a Shopify token', sign: 'shp', pattern: /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g },
  { what: 'a Telegram token', sign: ':AA', pattern: /\b\d{8,10}:AA[\w-]{33}/g },
  { what: 'a Tailscale key', sign: 'tskey-', pattern: /\btskey-[a-z]{2,12}-\w{10,}/g },
  {
    what: 'credentials in a header',
    sign: 'uthorization',
    pattern: /[Aa]uthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:Basic|Bearer|Token)\s(?<value>[\w+/=.~-]{8,})/g,
    isReal: isWritten,
  },
  {
    what: 'the hash of a password',
    sign: '$',
    pattern:
      /\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}|apr1\$[^\s$]{1,16}\$[./A-Za-z0-9]{22}|[156]\$[^\s$]{1,40}\$[./A-Za-z0-9]{22,}|argon2i?d?\$[^\s]{20,})/g,
  },
]

/** Returns the parts of a text that have the shape of a secret, in text order. */
export function secretShapes(text: string): readonly SecretLook[] {
  const found: SecretLook[] = []
  for (const { what, sign, pattern, isReal } of SHAPES) {
    if (!text.includes(sign)) continue
    for (const match of text.matchAll(pattern)) {
      const value = match.groups?.['value']
      if (value !== undefined && isReal && !isReal(value)) continue
      const start = match.index + (value === undefined ? 0 : match[0].lastIndexOf(value))
      const isPart = /^a (?:password|key) in/.test(what)
      found.push({ what, start, end: start + (value ?? match[0]).length, ...(isPart && { isPart }) })
    }
  }
  return found.sort((a, b) => a.start - b.start)
}
