import { isEmpty } from '../../schema/harmless.ts'
import { approximated, mapped, refused, unusable } from '../../schema/row.ts'
import {
  anyOf,
  either,
  flag,
  integer,
  keyValues,
  list,
  number,
  object,
  options,
  orNull,
  record,
  type Shape,
  text,
  textOrList,
  word,
} from '../../schema/shape.ts'

/** A name, or the long form, of a config or secret in a service. */
const fileReferences = (what: string): Shape =>
  list(
    either(
      text(),
      object({
        source: mapped(text(), `the ${what}`),
        target: mapped(text(), '`mountPath` of the file'),
        mode: mapped(number(), '`mode` of the file'),
        uid: unusable(text(), 'files have no owner of their own in a Pod (warning)'),
        gid: unusable(text(), 'files have no owner of their own in a Pod (warning)'),
      }),
    ),
  )

/** What a container keeps and reads: keys of services, jobs and pre_start hooks. */
export const storage = {
  volumes: mapped(
    list(
      either(
        text(),
        object(
          {
            type: mapped(
              word(['bind', 'volume', 'tmpfs', 'cluster', 'npipe', 'image']),
              'the kind of volume',
              '`cluster` and `npipe` are refused',
            ),
            source: mapped(text(), 'the claim, the folder or the image', 'a service of the file stands for its image'),
            target: mapped(text(), '`mountPath`'),
            read_only: mapped(flag(), '`readOnly`'),
            consistency: unusable(text(), 'nothing to lose: it is about desktop machines'),
            bind: mapped(
              object({
                propagation: mapped(text(), '`mountPropagation`'),
                create_host_path: mapped(flag(), '`false`: a missing folder is an error, not a claim'),
                recursive: mapped(
                  word(['enabled', 'disabled', 'writable', 'readonly']),
                  '`recursiveReadOnly`',
                  '`disabled` gets a warning',
                ),
                selinux: unusable(word(['z', 'Z']), 'the container runtime labels what it mounts'),
              }),
              'a ConfigMap, a Secret or a claim',
            ),
            volume: mapped(
              object({
                nocopy: mapped(flag(), 'the volume is not filled from the image'),
                subpath: mapped(text(), '`subPath`'),
                labels: mapped(keyValues({ unique: true }), 'annotations of the claim'),
              }),
              'the claim',
            ),
            tmpfs: mapped(
              object({
                size: mapped(integer({ minimum: 0 }), '`sizeLimit`'),
                mode: unusable(number(), 'a memory volume may be written by all (warning)'),
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
              'what becomes of a host path: a ConfigMap, a Secret, a claim, nothing',
              'of the dialect; has the last word',
            ),
          },
          { required: ['type', 'target'] },
        ),
      ),
    ),
    'named: PersistentVolumeClaim; anonymous: `volumeClaimTemplates`; host: ConfigMap or Secret of the files that git tracks, else a claim',
    'a service with a named or anonymous volume is a StatefulSet',
  ),
  tmpfs: mapped(textOrList(), 'a memory `emptyDir`', '`size=` is its limit; other options get a warning'),
  volumes_from: mapped(list(text(), { unique: true }), 'the mounts of that service', '`container:x` is refused'),
  configs: mapped(fileReferences('config'), 'one mounted file for each'),
  secrets: mapped(
    fileReferences('secret'),
    'one mounted file for each',
    'below `/run/secrets` unless `target` says otherwise',
  ),
}

const external = either(flag(), object({ name: text() }))
// The reference takes any key in this old form of two resources.
const openExternal = either(flag(), object({ name: text() }, { open: true }))

/** A volume of the file. */
export const topLevelVolume: Shape = orNull(
  object({
    name: mapped(text(), 'the name of the claim', 'as it is, without the project before it'),
    driver: approximated(
      text(),
      'a claim of the default storage class',
      'another driver than `local` gets a warning: name a storage class in `driver_opts.class`',
    ),
    driver_opts: mapped(
      record(unusable(anyOf('string', 'number'), 'options of other drivers are left out (warning)'), {
        called: 'OPTION',
        otherwise: 'ignored',
        keys: {
          size: mapped(anyOf('string', 'number'), '`resources.requests.storage`', '`1Gi` unless given'),
          class: mapped(anyOf('string', 'number'), '`storageClassName`'),
          access: mapped(anyOf('string', 'number'), '`accessModes`', '`ReadWriteOnce` unless given'),
          type: mapped(anyOf('string', 'number'), 'an `nfs` volume, a memory `emptyDir` or a host volume'),
          o: mapped(anyOf('string', 'number'), 'address and options of it'),
          device: mapped(anyOf('string', 'number'), 'its path'),
        },
      }),
      'the claim',
    ),
    external: mapped(external, 'the claim is used, not made'),
    labels: mapped(
      keyValues({ unique: true }),
      'annotations of the claim',
      '`dev.platform/policy: keep` protects it from `destroy`',
    ),
  }),
)

const template = {
  family: 'template-driver',
  note: 'nobody fills in the placeholders',
  why: 'The engine would fill in placeholders when the container starts. In a cluster nobody does, so that the program would read the placeholders themselves.',
  hint: 'write the file with its values, from variables where they differ',
}

/** A secret of the file. */
export const topLevelSecret: Shape = object({
  name: mapped(text(), 'the name of an external Secret'),
  file: mapped(text(), '`data` of the Secret'),
  environment: mapped(text(), '`data` of the Secret, from a variable'),
  external: mapped(openExternal, 'the Secret is used, not made', 'its key is the name, else the Compose key'),
  labels: mapped(keyValues({ unique: true }), 'annotations of the Secret'),
  driver: refused(text(), {
    family: 'secret-driver',
    note: 'use `external: true`',
    why: 'The value is in a store that only the engine’s plugin knows, so that there is nothing to put into a Secret.',
    hint: 'make it `external: true`, and let a secrets operator or a person make the Secret in the cluster',
    harmless: isEmpty,
  }),
  driver_opts: unusable(options(), 'goes with `driver`'),
  template_driver: refused(text(), { ...template, harmless: isEmpty }),
})

/** A config of the file. */
export const topLevelConfig: Shape = object({
  name: mapped(text(), 'the name of an external ConfigMap'),
  file: mapped(text(), '`data` or `binaryData` of the ConfigMap'),
  content: mapped(text(), '`data` of the ConfigMap'),
  environment: mapped(text(), '`data` of the ConfigMap, from a variable'),
  external: mapped(openExternal, 'the ConfigMap is used, not made'),
  labels: mapped(keyValues({ unique: true }), 'annotations of the ConfigMap'),
  template_driver: refused(text(), { ...template, harmless: isEmpty }),
})
