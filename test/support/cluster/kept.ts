/**
 * The parts of what was sent that the server's answer lacks or has otherwise, as sentences with their paths. The server
 * adds defaults, so the answer may have more; it drops fields of features that are off without a word, which this
 * finds.
 */
export function missingFrom(answer: unknown, sent: unknown, path = ''): readonly string[] {
  if (sent === undefined || sent === null) return []
  if (Array.isArray(sent)) {
    if (!Array.isArray(answer)) return [`${path} is lost`]
    return sent.flatMap((item, index) => missingFrom(counterpart(answer, item, index), item, `${path}[${index}]`))
  }
  if (typeof sent === 'object') {
    if (answer === null || typeof answer !== 'object') return Object.keys(sent).length === 0 ? [] : [`${path} is lost`]
    return Object.entries(sent).flatMap(([key, value]) =>
      missingFrom(Reflect.get(answer, key), value, path === '' ? key : `${path}.${key}`),
    )
  }
  if (answer === undefined) return sent === '' || sent === 0 || sent === false ? [] : [`${path} is lost`]
  return Object.is(answer, sent) ? [] : [`${path} is ${JSON.stringify(answer)}, not ${JSON.stringify(sent)}`]
}

/**
 * Lists of named things are compared by name, since the server may put others between them; a mount by its path, since
 * a volume may be mounted twice.
 */
function counterpart(answer: readonly unknown[], item: unknown, index: number): unknown {
  const key = identity(item)
  return key === undefined ? answer[index] : answer.find(other => identity(other) === key)
}

function identity(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return undefined
  return Reflect.get(value, 'mountPath') ?? Reflect.get(value, 'name')
}
