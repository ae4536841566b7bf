/** A number from 0 to 1 for each call, the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * Files of a project that was made to hurt, the same ones for the same seed: a few services with a few hostile parts
 * each.
 */
export function hostileProject(seed: number): Readonly<Record<string, string>> {
  const random = randomFrom(seed)
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
  const times = (most: number, line: (n: number) => string) =>
    Array.from({ length: Math.floor(most * random() ** 3) + 1 }, (_, n) => line(n)).join('')
  const files: Record<string, string> = {
    'a.env': times(20_000, n => `A${n}=\${A${n - 1}}x\${A${pick([0, 1, n])}}\n`),
    'b.env': times(2_000, n => `B${n}="${pick(['x', '$', '\\n', '"', '${A', '\u0000'])}\n`),
    'part.yaml': `include: [${pick(['part.yaml', 'other.yaml', '../compose.yaml'])}]\nservices: {p: {image: nginx}}\n`,
    'other.yaml': times(
      30,
      () => `${pick(['---', 'include: [{path: part.yaml, env_file: a.env}]', 'x-a: &a [*a]'])}\n`,
    ),
    Dockerfile: times(2_000, n => `${pick(['FROM x AS', 'EXPOSE', 'COPY', 'ARG', 'RUN', '\\'])} \${A${n}} ${n}\n`),
    '.dockerignore': times(5_000, n => `${pick(['**/', '!', '*a*a*', '[', '\\'])}${n}\n`),
    '.env': times(5_000, n => `V${n}=\${V${n - 1}}\${V${n - 1}:-${'x'.repeat(n % 50)}}\n`),
  }
  const parts: readonly (() => string)[] = [
    () =>
      `    ports:\n${times(200, () => `      - "${pick(['1-65535', '1-65535:1-65535', '99999', '0', '8000-9000:1', ':'])}"\n`)}`,
    () => `    expose: [${times(200, () => `"${pick(['1-65535', '1-9/udp', '-', '9-1'])}", `)}"1"]\n`,
    () =>
      `    env_file: [${times(300, () => `${pick(['a.env', 'b.env', '/dev/zero', '/proc/self/environ', 'none.env'])}, `)}a.env]\n`,
    () =>
      `    command: "${pick(['${A:-', '${V1}', '$$', '${'])}${times(20_000, () => pick(['${V9}', '${A:-', '}', 'x']))}"\n`,
    () =>
      `    labels:\n${times(5_000, n => `      k${pick([n, 1])}: ${pick(['v', '*x', '[', '{a: b}', '!!int x'])}\n`)}`,
    () => times(5_000, n => `    kye${n}: ${n}\n`),
    () => `    depends_on: [${times(2_000, n => `s${n}, `)}s0]\n`,
    () => `    x-deep: ${'['.repeat(Math.floor(random() * 5_000))}\n`,
    () =>
      `    build: {context: ${pick(['.', '..', '/', './none'])}, dockerfile: ${pick(['Dockerfile', '/dev/zero', '.env'])}}\n`,
    () =>
      `    volumes: ["${pick(['.', '/dev', './part.yaml', '/proc', '~'])}:/${'x/'.repeat(Math.floor(random() * 20_000))}"]\n`,
    () =>
      `    extends: {service: ${pick(['s0', 's1', 'p'])}, file: ${pick(['part.yaml', 'compose.yaml', '/dev/zero'])}}\n`,
    () => `    profiles: [${times(5_000, n => `p${n}, `)}p]\n`,
    () => `    networks: [${times(2_000, n => `n${n}, `)}n]\n`,
    () => `    image: ${'a/'.repeat(Math.floor(random() * 50_000))}b\n`,
  ]
  const service = (n: number) => `  s${n}:\n${times(5, () => pick(parts)())}`
  const includes = random() < 0.3 ? `include: [${pick(['part.yaml', '{path: other.yaml, env_file: b.env}'])}]\n` : ''
  return { ...files, 'compose.yaml': `name: shop\n${includes}services:\n${times(60, service)}` }
}
