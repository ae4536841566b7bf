import { type DiagnosticKind, diagnostic, type Severity } from '../../diagnostics/diagnostic.ts'
import { joinWords } from '../../schema/describe.ts'
import { formatPath } from '../../schema/model-path.ts'
import type { Fate, Loss, Row } from '../../schema/shape.ts'
import { tableRows } from './lookup.ts'

/** Parameters of the diagnostics for keys that Kubernetes does not support, or supports only in part. */
export interface LossParameters {
  /** The key in the message: `ulimits`, `deploy.rollback_config`, `networks.front.driver`. */
  readonly name: string
  readonly loss: Loss
}

const outcomes: Readonly<Record<Fate, string>> = {
  mapped: 'is mapped to Kubernetes, but not with this value: the application would not work as described.',
  cli: 'is used by devctl itself.',
  approximated: 'has no exact equivalent in Kubernetes; devctl writes the nearest one.',
  none: 'has no equivalent in Kubernetes. It is accepted and left out.',
  refused:
    'has no equivalent in Kubernetes, and devctl refuses it: the application would not work as described without it.',
}

const defaultMessages: Readonly<Record<Severity, string>> = {
  error: 'cannot be deployed to a cluster',
  warning: 'has no equivalent in Kubernetes and is left out',
  info: 'has no effect',
}

/**
 * Diagnostics for a key that Kubernetes does not support, or supports only in part: `kind`, and `minor` for values that
 * a cluster satisfies anyway.
 */
export interface LossKinds {
  readonly kind: DiagnosticKind<LossParameters>
  readonly minor?: DiagnosticKind<LossParameters>
}

/**
 * Diagnostics by the `loss` of the rows. They are declared at import, so the catalogue is always complete. Losses of
 * the same family have the same diagnostics.
 */
export const lossKinds: ReadonlyMap<Loss, LossKinds> = declareKinds()

/**
 * Codes of diagnostics for keys that have no effect, but whose value a cluster satisfies anyway. Reports list these
 * keys; `--strict` accepts them.
 */
export const minorLosses: ReadonlySet<string> = new Set(
  [...lossKinds.values()].flatMap(({ minor }) => (minor ? [minor.code] : [])),
)

function declareKinds(): ReadonlyMap<Loss, LossKinds> {
  const families = new Map<string, { readonly fate: Fate; readonly losses: Set<Loss>; readonly keys: string[] }>()
  for (const { path, row } of tableRows()) {
    if (!row.loss) continue
    const code = `${row.loss.family || path.at(-1)!.replaceAll('_', '-')}/${codeSuffix(row, row.loss)}`
    const family = families.get(code) ?? { fate: row.fate, losses: new Set(), keys: [] }
    families.set(code, family)
    family.losses.add(row.loss)
    family.keys.push(`\`${documentedName(path)}\``)
  }
  const declared = new Map<Loss, LossKinds>()
  for (const [code, { fate, losses, keys }] of families) {
    const [first] = losses
    const kinds: LossKinds = {
      kind: lossKind(code, fate, first!, keys),
      ...(first!.minor && { minor: minorKind(code.replace(/\/.*/, '/not-needed'), first!, keys) }),
    }
    for (const loss of losses) declared.set(loss, kinds)
  }
  return declared
}

function codeSuffix({ fate }: Row, { severity }: Loss): string {
  return fate === 'approximated' ? 'approximated' : severity === 'error' ? 'refused' : 'no-effect'
}

/** Returns the name of the key in the documentation: without `services` and without names that the user chooses. */
function documentedName(path: readonly string[]): string {
  const own = path[0] === 'services' ? path.slice(2) : path
  return formatPath(own.filter(step => step !== '[]' && step !== '*'))
}

function lossKind(code: string, fate: Fate, loss: Loss, keys: readonly string[]): DiagnosticKind<LossParameters> {
  const advice = loss.hint && `What to do: ${loss.hint}.`
  return diagnostic<LossParameters>({
    code,
    severity: loss.severity,
    ...(loss.severity === 'warning' && { loss: true }),
    explain: [`${listKeys(keys)} ${outcomes[fate]}`, loss.why, advice].filter(Boolean).join('\n\n'),
    text: ({ name, loss }) => ({
      message: loss.message ?? `\`${name}\` ${loss.says ?? defaultMessages[loss.severity]}`,
      hint: loss.hint,
    }),
  })
}

function minorKind(code: string, loss: Loss, keys: readonly string[]): DiagnosticKind<LossParameters> {
  return diagnostic<LossParameters>({
    code,
    severity: 'info',
    explain: `${listKeys(keys)} is left out. With this value nothing is lost.\n\n${loss.why}`,
    text: ({ name }) => ({ message: `\`${name}\` is left out: a cluster does this anyway` }),
  })
}

function listKeys(keys: readonly string[]): string {
  return keys.length > 4 ? `${keys.slice(0, 3).join(', ')} or another key of this kind` : joinWords(keys, 'or')
}
