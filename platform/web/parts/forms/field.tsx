import { useId } from 'preact/hooks'

interface FieldProps {
  readonly label: string
  readonly hint?: string | undefined
  readonly error?: string | undefined
  readonly value: string
  readonly onValue: (value: string) => void
  readonly placeholder?: string
  readonly maxLength?: number
  readonly autofocus?: boolean
  readonly autocomplete?: string
  readonly required?: boolean
  /** True if the value is hidden while the user types it. */
  readonly isSecret?: boolean
  /** Style of the field, if it differs from the default. */
  readonly look?: 'code' | 'mono'
}

/** Renders a one-line text field with its label, a hint about valid values, and an error. */
export function Field({
  label,
  hint,
  error,
  value,
  onValue,
  look,
  isSecret = false,
  autocomplete = 'off',
  ...rest
}: FieldProps) {
  const id = useId()
  const note = error ?? hint
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        {...rest}
        // The type definitions allow further types of input, with different properties. These two have the same
        // properties.
        type={(isSecret ? 'password' : 'text') as 'text'}
        autocomplete={autocomplete}
        spellcheck={false}
        id={id}
        class={look === undefined ? 'input' : `input ${look}-input`}
        value={value}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        onInput={event => onValue(event.currentTarget.value)}
      />
      {note !== undefined && (
        <p id={`${id}-note`} class={error === undefined ? 'note' : 'note is-error'}>
          {note}
        </p>
      )}
    </div>
  )
}

/** Renders a text field of several lines. */
export function TextArea({
  label,
  hint,
  value,
  onValue,
  autofocus = false,
}: Pick<FieldProps, 'label' | 'hint' | 'value' | 'onValue' | 'autofocus'>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class="input mono-input"
        rows={3}
        autocomplete="off"
        spellcheck={false}
        autofocus={autofocus}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-note`}
        onInput={event => onValue(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <p id={`${id}-note`} class="note">
          {hint}
        </p>
      )}
    </div>
  )
}

interface SelectProps<T extends string> {
  readonly label: string
  readonly isLabelHidden?: boolean
  readonly value: T
  readonly options: readonly (readonly [value: T, text: string])[]
  readonly onValue: (value: T) => void
  readonly isDisabled?: boolean
}

/** Renders a selection from a few options. */
export function Select<T extends string>({
  label,
  isLabelHidden,
  value,
  options,
  onValue,
  isDisabled,
}: SelectProps<T>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={isLabelHidden ? 'hidden' : undefined}>
        {label}
      </label>
      <select
        id={id}
        class="input select"
        value={value}
        disabled={isDisabled}
        // The value is always one of the options.
        onChange={event => onValue(event.currentTarget.value as T)}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface SwitchProps {
  readonly label: string
  readonly hint: string
  readonly isOn: boolean
  readonly isDisabled?: boolean
  readonly onChange: (isOn: boolean) => void
}

/** Renders a switch that takes effect immediately. */
export function Switch({ label, hint, isOn, isDisabled = false, onChange }: SwitchProps) {
  const id = useId()
  return (
    <div class="switch-line">
      <div>
        <p id={id} class="strong">
          {label}
        </p>
        <p id={`${id}-hint`} class="soft">
          {hint}
        </p>
      </div>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={isOn}
        aria-labelledby={id}
        aria-describedby={`${id}-hint`}
        disabled={isDisabled}
        onClick={() => onChange(!isOn)}
      />
    </div>
  )
}
