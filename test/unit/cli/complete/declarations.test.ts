import { describe, expect, test } from 'vitest'
import { commands } from '../../../../cli/commands.ts'
import { takesValue } from '../../../../cli/complete/line.ts'

/** Options whose values cannot be listed, by their flags. */
const FREE: Readonly<Record<string, readonly string[]>> = {
  'a number, a size or a duration': [
    '--timeout <duration>',
    '--since <duration>',
    '--tail <lines>',
    '--prune-limit <number>',
    '--index <number>',
    '--replicas <number>',
    '--builders <number>',
    '--untrusted-builders <number>',
    '--registry-size <quantity>',
    '--builder-size <quantity>',
    '--interval <duration>',
    '--source-interval <duration>',
    '--retry-interval <duration>',
    '--health-timeout <duration>',
  ],
  'an address of a server, an image or a repository': [
    '--registry <host/path>',
    '--registry <host[/path]>',
    '--image-registry <host/path>',
    '--from <host/path>',
    '--oci <reference>',
    '--url <address>',
    '--repository <url>',
    '--source-url <url>',
    '--base-registry <host/path>',
    '--push <host/path>',
    '--builder <url>',
    '--domain <domain>',
    '--address <address>',
    '--cache-from <image>',
    '--export-cache <image>',
    '--kubernetes-server <url>',
    '--cluster-networks <cidr,...>',
    '--private-networks <cidr,...>',
    '--builder-networks <cidr,...>',
    '--trusted-proxies <cidr,...>',
    '--oidc <issuer>',
    '--github [url]',
    '--forge <kind=url>',
  ],
  'a new name, or one that only the user knows': [
    '--tag <tag>',
    '-t, --tag <tag>',
    '-e, --env <name=value>',
    '--var <name=value>',
    '--env <name=value>',
    '--build-arg <name=value>',
    '--secret <id=id,src=path>',
    '--secret <path=secret/key>',
    '--public <path>',
    '--target <stage>',
    '--platform <os/arch>',
    '--command <word>',
    '--label <label>',
    '--prefix <prefix>',
    '--commit <sha>',
    '--login <name>',
    '--token <token>',
    '--ca-fingerprint <sha256>',
    '--oidc-client-id <id>',
    '--oidc-name <name>',
    '--oidc-allow <claim=value>',
    '--github-client-id <id>',
    '--github-allow <organisation[/team]>',
    '--ci <system,rule>',
    '--replace [boolean]',
  ],
  'a branch or folder of another repository': ['--branch <name>', '--path <folder>', '--into <folder>'],
  'an object of another cluster, or one that is seldom named': [
    '--gateway <namespace/name>',
    '--ingress-class <name>',
    '--ingress-class <class>',
    '--tls-secret <name>',
    '--cert-manager <issuer>',
    '--project <name>',
    '--container <name>',
    '--destination <cluster>',
    '--service-account <name>',
    '--kubeconfig-secret <name>',
    '--decryption-secret <name>',
  ],
}
/** Arguments whose values cannot be listed, as `COMMAND ARGUMENT`. */
const FREE_WORDS: readonly string[] = [
  'history [number]',
  'forward <port...>',
  // The command for the container.
  'exec [command...]',
  'run [command...]',
  // Files, of which shells complete what they see, or commands after `--`.
  'migrate [file...]',
  'explain [path]',
  'namespace create <name>',
  'namespace share <user>',
  'namespace unshare <user>',
  'preview hook [which]',
  'variables set [variable...]',
  'variables unset <name...>',
  'credentials set <host>',
  'credentials unset <host>',
  'platform invite <name>',
  'platform admin <user>',
]

describe('declarations', () => {
  const options = commands.flatMap(({ name, options }) =>
    Object.values(options).map(option => ({ ...option, command: name })),
  )
  const free = Object.values(FREE).flat()

  test('every option with a value has choices or a kind of values, or is a free text for a reason', () => {
    const unknown = options.filter(
      one => takesValue(one) && !one.choices && !one.completes && !free.includes(one.flags),
    )
    expect(unknown.map(({ command, flags }) => `${command} ${flags}`)).toEqual([])
  })

  test('the list of free texts has no option that is completed or missing', () => {
    const left = new Set(options.filter(one => !one.choices && !one.completes).map(({ flags }) => flags))
    expect(free.filter(flags => !left.has(flags))).toEqual([])
  })

  test('every argument has choices or a kind of values, or is a free text', () => {
    const words = commands.flatMap(({ name, words = [] }) =>
      words.filter(word => !word.choices && !word.completes).map(word => `${name} ${word.name}`),
    )
    expect(words.sort()).toEqual(FREE_WORDS.toSorted())
  })

  test('an option is repeatable if its description says so', () => {
    for (const { command, flags, description, isRepeatable } of options)
      expect(isRepeatable === true, `${command} ${flags}`).toBe(
        /may be repeated/.test(description) || flags === '--secret <path=secret/key>',
      )
  })
})
