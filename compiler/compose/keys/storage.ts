import { approximated, mapped, refused, unusable } from '../../schema/row.ts'
import {
  anyOf,
  either,
  flag,
  inDigits,
  integer,
  list,
  number,
  object,
  options,
  orNull,
  record,
  type Shape,
  text,
  word,
} from '../../schema/shape.ts'
import { isEmpty } from '../../schema/value-predicates.ts'
import { readEntryVariables } from '../read/storage/entry-variables.ts'
import { readFileMounts } from '../read/storage/file-mounts.ts'
import { readMounts, readTmpfsEntries, readVolumesFrom } from '../read/storage/volumes.ts'
import * as defaults from './compose-defaults.ts'
import { addedTexts, castFlag, uniqueLabels } from './forms.ts'
import * as path from './host-paths.ts'
import * as identity from './identities.ts'
import type { Keys } from './key.ts'
import * as long from './long-forms.ts'
import * as print from './print.ts'

/** Returns the shape of `configs` or `secrets` of a service: names or long forms. */
const fileReferences = (what: string): Shape =>
  list({
    ...either(
      text(),
      object({
        source: mapped(text(), `the ${what}`),
        target: mapped(text(), '`mountPath` of the file'),
        mode: mapped({ ...inDigits(number()), print: print.fileMode }, '`mode` of the file'),
        uid: unusable(text(), 'a mounted file has no owner setting in a Pod (warning)'),
        gid: unusable(text(), 'a mounted file has no owner setting in a Pod (warning)'),
      }),
    ),
    long: long.underKey('source'),
  })

/**
 * Returns the row of a key that sets variables: its value maps the name of each variable to an entry of the top-level
 * `configs` or `secrets`, as `section` says. `field` is the field of `valueFrom` that refers to such an entry in
 * Kubernetes.
 */
const entryVariables = (section: 'configs' | 'secrets', field: string) =>
  mapped(
    {
      ...record(
        either(
          text(),
          object(
            {
              source: mapped(text(), `the entry of \`${section}\``),
              key: mapped(text(), `\`${field}.key\``, 'of an `external` entry; default: the name of the object'),
            },
            { required: ['source'] },
          ),
        ),
        { called: 'VARIABLE' },
      ),
      print: print.asIs,
    },
    `\`env[].valueFrom.${field}\``,
    `of the dialect: a variable and an entry of \`${section}\`; wins over \`environment\``,
  )

const filePath: Shape = { ...text(), path: path.host }

const references = fileReferences('secret')
const secretReferences: Shape = {
  list: { items: { ...references.list!.items, defaults: defaults.secret } },
  identity: identity.file('/run/secrets'),
}

/** Keys for volumes and mounted files, shared by services, jobs and pre_start hooks. */
export const storage = {
  volumes: {
    ...mapped(
      {
        ...list({
          ...either(
            text(),
            object(
              {
                type: mapped(
                  word(['bind', 'volume', 'tmpfs', 'cluster', 'npipe', 'image']),
                  'the kind of volume',
                  '`cluster` and `npipe` are refused',
                ),
                source: mapped(text(), 'the claim, the folder or the image', 'a service name means its image'),
                target: mapped(text(), '`mountPath`'),
                read_only: mapped(castFlag(), '`readOnly`'),
                consistency: unusable(text(), 'not needed: for desktop machines only'),
                bind: mapped(
                  {
                    ...object({
                      propagation: mapped(text(), '`mountPropagation`'),
                      create_host_path: mapped(
                        { ...flag(), print: print.optOut },
                        '`false`: a missing folder is an error, not a claim',
                      ),
                      recursive: mapped(
                        word(['enabled', 'disabled', 'writable', 'readonly']),
                        '`recursiveReadOnly`',
                        '`disabled` gets a warning',
                      ),
                      selinux: unusable(word(['z', 'Z']), 'the container runtime labels mounts itself'),
                    }),
                    defaults: defaults.bind,
                  },
                  'a ConfigMap, a Secret or a claim',
                ),
                volume: mapped(
                  object({
                    nocopy: mapped(castFlag(), 'the volume is not filled from the image'),
                    subpath: mapped(text(), '`subPath`'),
                    labels: mapped(uniqueLabels(), 'annotations of the claim'),
                  }),
                  'the claim',
                ),
                tmpfs: mapped(
                  object({
                    size: mapped({ ...integer({ minimum: 0 }), print: print.bytes }, '`sizeLimit`'),
                    mode: unusable(
                      { ...number(), print: print.integer },
                      'everybody may write to a memory volume (warning)',
                    ),
                  }),
                  'a memory `emptyDir`',
                ),
                image: mapped(
                  object({ subpath: mapped(text(), '`subPath`') }),
                  'an image volume',
                  'needs Kubernetes 1.35 or a feature gate (warning)',
                ),
                'x-mount': mapped(
                  word(['config', 'secret', 'claim', 'skip']),
                  'a ConfigMap, a Secret, a claim or nothing for a host path',
                  'of the dialect; overrides the rules for host paths',
                ),
              },
              { required: ['type', 'target'] },
            ),
          ),
          long: long.volume,
          path: path.mount,
        }),
        identity: identity.mount,
      },
      'named: PersistentVolumeClaim; anonymous: `volumeClaimTemplates`; host path: ConfigMap or Secret of the files that git tracks, else a claim',
      'a service with a named or anonymous volume is a StatefulSet',
    ),
    read: { mounts: readMounts },
    notInherited: true as const,
  },
  tmpfs: {
    ...mapped(addedTexts(), 'a memory `emptyDir`', '`size=` sets its limit; other options get a warning'),
    read: { tmpfs: readTmpfsEntries },
  },
  volumes_from: {
    ...mapped(list(text(), { unique: true }), 'the volumes of that service', '`container:x` is refused'),
    read: { volumesFrom: readVolumesFrom },
  },
  configs: {
    ...mapped({ ...fileReferences('config'), identity: identity.file('') }, 'one mounted file for each'),
    read: { configs: readFileMounts },
  },
  secrets: {
    ...mapped(secretReferences, 'one mounted file for each', 'default: below `/run/secrets`'),
    read: { secrets: readFileMounts },
  },
  'x-secret-environment': {
    ...entryVariables('secrets', 'secretKeyRef'),
    read: { variablesFromSecrets: readEntryVariables },
    notInherited: true as const,
  },
  'x-config-environment': {
    ...entryVariables('configs', 'configMapKeyRef'),
    read: { variablesFromConfigs: readEntryVariables },
    notInherited: true as const,
  },
} satisfies Keys

const external: Shape = { ...either(flag(), object({ name: text() })), cast: 'boolean', print: print.flag }
// Docker Compose accepts any key in this deprecated form of secrets and configs.
const openExternal: Shape = {
  ...either(flag(), object({ name: text() }, { open: true })),
  cast: 'boolean',
  print: print.flag,
}

const volumeSection: Shape = orNull(
  object({
    name: mapped(text(), 'the name of the claim', 'without the project name as prefix'),
    driver: approximated(
      text(),
      'a claim of the default storage class',
      'drivers other than `local` get a warning: name a storage class in `driver_opts.class`',
    ),
    driver_opts: mapped(
      {
        ...record(unusable(anyOf('string', 'number'), 'options of other drivers are left out (warning)'), {
          called: 'OPTION',
          otherwise: 'ignored',
          keys: {
            size: mapped(anyOf('string', 'number'), '`resources.requests.storage`', 'default `1Gi`'),
            class: mapped(anyOf('string', 'number'), '`storageClassName`'),
            access: mapped(anyOf('string', 'number'), '`accessModes`', 'default `ReadWriteOnce`'),
            type: mapped(anyOf('string', 'number'), 'an `nfs` volume, a memory `emptyDir` or a host volume'),
            o: mapped(anyOf('string', 'number'), 'its address and options'),
            device: mapped(anyOf('string', 'number'), 'its path'),
          },
        }),
        print: print.options,
      },
      'the claim',
    ),
    external: mapped(external, 'the claim must exist'),
    labels: mapped(
      uniqueLabels(),
      'annotations of the claim',
      '`dev.platform/policy: keep` protects it from `destroy`',
    ),
  }),
)

const template = {
  family: 'template-driver',
  note: 'placeholders are not filled in',
  why: 'The container engine fills in the placeholders when the container starts. Kubernetes does not, so the program would read the placeholders themselves.',
  hint: 'write the file with its values; use variables for what differs',
}

const secretSection: Shape = object({
  name: mapped(text(), 'the name of an external Secret'),
  file: mapped(filePath, '`data` of the Secret'),
  environment: mapped(text(), '`data` of the Secret, from a variable'),
  external: mapped(openExternal, 'the Secret must exist', 'its key is `name`, else the Compose key'),
  labels: mapped(uniqueLabels(), 'annotations of the Secret'),
  driver: refused(text(), {
    family: 'secret-driver',
    note: 'use `external: true`',
    why: 'The value is in a store that only the plugin of the container engine can read, so devctl cannot write it to a Secret.',
    hint: 'make it `external: true`, and create the Secret in the cluster yourself or with a secrets operator',
    harmless: isEmpty,
  }),
  driver_opts: unusable(options(), 'goes with `driver`'),
  template_driver: refused(text(), { ...template, harmless: isEmpty }),
})

const configSection: Shape = object({
  name: mapped(text(), 'the name of an external ConfigMap'),
  file: mapped(filePath, '`data` or `binaryData` of the ConfigMap'),
  content: mapped(text(), '`data` of the ConfigMap'),
  environment: mapped(text(), '`data` of the ConfigMap, from a variable'),
  external: mapped(openExternal, 'the ConfigMap must exist'),
  labels: mapped(uniqueLabels(), 'annotations of the ConfigMap'),
  template_driver: refused(text(), { ...template, harmless: isEmpty }),
})

/** An entry of the top-level `volumes`. */
export const topLevelVolume: Shape = { ...volumeSection, long: long.external, path: path.device }

/** An entry of the top-level `secrets`. */
export const topLevelSecret: Shape = { ...secretSection, long: long.external }

/** An entry of the top-level `configs`. */
export const topLevelConfig: Shape = { ...configSection, long: long.external }
