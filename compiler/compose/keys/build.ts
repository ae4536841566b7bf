import { cli, none } from '../../schema/row.ts'
import {
  anyOf,
  either,
  flag,
  inDigits,
  list,
  number,
  object,
  record,
  type Shape,
  text,
  textOrList,
  value,
} from '../../schema/shape.ts'
import { isOneOf } from '../../schema/value-predicates.ts'
import * as defaults from './compose-defaults.ts'
import { labels, names, variables } from './forms.ts'
import * as path from './host-paths.ts'
import * as identity from './identities.ts'
import * as long from './long-forms.ts'
import * as merge from './merge-rules.ts'
import { extraHosts } from './network.ts'
import * as print from './print.ts'
import { printSshKeys } from './print-special.ts'
import { ulimits } from './resources.ts'

const buildSecrets = list({
  ...either(
    text(),
    object({
      source: text(),
      target: text(),
      uid: text(),
      gid: text(),
      mode: { ...inDigits(number()), print: print.fileMode },
    }),
  ),
  long: long.underKey('source'),
})

/** `NAME: CONTEXT`, or a list of `NAME=CONTEXT`. */
const contexts: Shape = {
  ...either(record({ ...value(), path: path.context }), list(text())),
  long: long.contexts,
  merge: merge.pairs,
  identity: identity.name,
  print: print.labels,
}

/** `ID: PATH`, or a list of `ID=PATH`. */
const sshKeys: Shape = {
  ...either(record({ ...value(), path: path.host }), list(text(), { unique: true })),
  long: long.ssh,
  print: printSshKeys,
}

const buildSection: Shape = either(
  text(),
  object({
    context: cli({ ...text(), path: path.context }, 'folder, or URL of a repository or archive'),
    dockerfile: cli(text(), 'path in the context'),
    dockerfile_inline: cli(text(), 'the Dockerfile itself'),
    target: cli(text(), 'stage to build'),
    args: cli(variables(), 'build arguments', 'a name without a value takes it from the environment of devctl'),
    export_cache: cli(text(), 'tag of the exported cache', 'of the dialect'),
    cache_from: cli(list(text()), 'caches to import'),
    cache_to: cli(list(text()), 'caches to export'),
    no_cache: cli(flag(), 'build without cache'),
    no_cache_filter: cli(textOrList({ unique: true }), 'stages to build without cache'),
    pull: cli(flag(), 'look for newer base images'),
    additional_contexts: cli(
      contexts,
      'named contexts',
      '`service:x` builds that service first; it need not be active',
    ),
    secrets: cli(buildSecrets, 'secrets during the build'),
    ssh: cli(sshKeys, 'keys or the agent during the build'),
    labels: cli(labels(), 'labels of the image'),
    tags: cli(names(), 'additional names that the image is pushed under'),
    platforms: cli(list(text()), 'platforms to build for'),
    network: cli(text(), 'network during the build', '`host` and `none`; BuildKit cannot join others (warning)'),
    extra_hosts: cli(extraHosts, 'host names during the build'),
    shm_size: cli({ ...anyOf('integer', 'string'), print: print.bytes }, 'size of `/dev/shm` during the build'),
    ulimits: cli(ulimits(), 'limits during the build'),
    entitlements: cli(list(text()), 'entitlements of the build'),
    privileged: cli(flag(), 'the `security.insecure` entitlement'),
    provenance: cli({ ...anyOf('string', 'boolean'), long: long.text }, 'attestation'),
    sbom: cli({ ...anyOf('string', 'boolean'), long: long.text }, 'attestation'),
    isolation: none(text(), {
      family: 'build-isolation',
      why: 'The key selects the isolation of Windows containers, which BuildKit does not build in.',
      harmless: isOneOf('default', ''),
    }),
  }),
)

/**
 * `build`: a folder, or a mapping
 * (https://github.com/compose-spec/compose-spec/blob/main/build.md).
 */
export const build: Shape = {
  ...buildSection,
  long: long.underKey('context'),
  merge: merge.build,
  defaults: defaults.context,
}
