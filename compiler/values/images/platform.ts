import { failed, type Parsed, parsed } from '../parsed.ts'

/** Matches an operating system, optionally with a version in parentheses, an architecture and optionally a variant. */
const PLATFORM = /^[A-Za-z0-9_.-]+(?:\([^()]*\))?(?:\/[A-Za-z0-9_.-]+){1,2}$/

/** Matches platforms of a single part, which builders complete: an operating system, or an architecture of Linux. */
const ALONE =
  /^(?:linux|windows|freebsd|amd64|x86_64|x86-64|386|i386|arm64|aarch64|arm|armhf|armel|ppc64le|s390x|riscv64|mips64le|loong64)$/i

/** Variable of Docker for the platform of images that do not set one. */
export const DEFAULT_PLATFORM = 'DOCKER_DEFAULT_PLATFORM'

/**
 * Parses an image platform, `OS/ARCHITECTURE[/VARIANT]` (https://pkg.go.dev/github.com/containerd/platforms has the
 * grammar).
 */
export function parsePlatform(text: string): Parsed<string> {
  return PLATFORM.test(text) || ALONE.test(text)
    ? parsed(text)
    : failed('it is not a platform', 'write `OS/ARCHITECTURE`, such as `linux/amd64`')
}

const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: 'amd64',
  'x86-64': 'amd64',
  aarch64: 'arm64',
  i386: '386',
}

/**
 * Returns the arguments that a builder sets for a platform, `OS/ARCHITECTURE[/VARIANT]`; empty for other forms
 * (https://docs.docker.com/reference/dockerfile/#automatic-platform-args-in-the-global-scope).
 */
export function platformArguments(platform: string): ReadonlyMap<string, string> {
  const [, os, written, given] =
    /^([a-z0-9_.-]+)\/([a-z0-9_.-]+)(?:\/([a-z0-9_.-]+))?$/.exec(platform.toLowerCase()) ?? []
  if (os === undefined || written === undefined) return new Map()
  const architecture = ARCHITECTURES[written] ?? written
  const isDefault = (architecture === 'arm64' && given === 'v8') || (architecture === 'amd64' && given === 'v1')
  const variant = isDefault ? '' : (given ?? (architecture === 'arm' ? 'v7' : ''))
  return new Map([
    ['TARGETPLATFORM', [os, architecture, ...(variant === '' ? [] : [variant])].join('/')],
    ['TARGETOS', os],
    ['TARGETARCH', architecture],
    ['TARGETVARIANT', variant],
  ])
}
