/** Manifest of a plugin as krew documents it: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/ */
interface Plugin {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: { readonly name?: string }
  readonly spec?: {
    readonly version?: string
    readonly platforms?: readonly Platform[]
    readonly [key: string]: unknown
  }
}

interface Platform {
  readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> }
  readonly uri?: string
  readonly sha256?: string
  readonly bin?: string
}

const SPEC = ['version', 'homepage', 'shortDescription', 'description', 'caveats', 'platforms']
const PLATFORM = ['selector', 'uri', 'sha256', 'bin', 'files']

/** Returns the fields of a plugin's manifest that krew would refuse, or its index would. */
export function krewProblems({ apiVersion, kind, metadata, spec = {} }: Plugin): readonly string[] {
  const fields: Readonly<Record<string, boolean>> = {
    apiVersion: apiVersion === 'krew.googlecontainertools.github.com/v1alpha2',
    kind: kind === 'Plugin',
    'metadata.name': /^[\w-]+$/.test(metadata?.name ?? ''),
    'spec.version': /^v\d+\.\d+\.\d+(-[\w.]+)?$/.test(spec.version ?? ''),
    'spec.shortDescription': /^.{1,50}$/.test(String(spec['shortDescription'])),
    'spec.description': typeof spec['description'] === 'string',
    'unknown keys': Object.keys(spec).every(key => SPEC.includes(key)),
    'spec.platforms': (spec.platforms ?? []).length > 0,
  }
  const wrong = Object.entries(fields).flatMap(([field, isRight]) => (isRight ? [] : [field]))
  return [...wrong, ...(spec.platforms ?? []).flatMap(platformProblems)]
}

function platformProblems(platform: Platform): readonly string[] {
  const { os = '', arch = '' } = platform.selector?.matchLabels ?? {}
  const fields: Readonly<Record<string, boolean>> = {
    selector: ['linux', 'darwin', 'windows'].includes(os) && ['amd64', 'arm64'].includes(arch),
    uri: /^https:\/\/\S+\.(tar\.gz|zip)$/.test(platform.uri ?? ''),
    sha256: /^[0-9a-f]{64}$/.test(platform.sha256 ?? ''),
    bin: Boolean(platform.bin),
    'unknown keys': Object.keys(platform).every(key => PLATFORM.includes(key)),
  }
  return Object.entries(fields).flatMap(([field, isRight]) => (isRight ? [] : [`${field} of ${os}/${arch}`]))
}
