import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ShownVariable } from '../../../api/variables.ts'
import { variableNameProblem } from '../../../rules/variable-names.ts'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { useResource } from '../../state/resource.ts'
import { commandLine } from '../../state/shell-words.ts'
import { toast } from '../../state/toasts.ts'
import { Loading } from '../frame/loading.tsx'
import { Section } from '../frame/page.tsx'
import { Icon } from '../icon.tsx'
import { Empty } from '../problem.tsx'
import { Time } from '../time.tsx'
import { Button } from './button.tsx'
import { FormDialog } from './dialog.tsx'
import { Field, TextArea } from './field.tsx'

interface ScopeProps {
  /** Scope of the variables: `admin`, `user` or `namespace:NAME`. */
  readonly scope: string
  /** Options that select the scope of the variables in the equivalent command. */
  readonly words: readonly string[]
  readonly about: ComponentChildren
  readonly mayChange: boolean
}

/** Shows the names of variables, which the user can set and unset; values are never shown. */
export function Variables({ scope, words, about, mayChange }: ScopeProps) {
  const found = useResource('GET /variables/:scope', { params: { scope } })
  /** Name of the variable in the dialog; an empty string for a new one. */
  const setting = useSignal<string | undefined>(undefined)
  const removing = useSignal<string | undefined>(undefined)
  return (
    <Section
      title="Variables"
      about={about}
      actions={
        mayChange && (
          <Button
            look="solid"
            icon="plus"
            onClick={() => {
              setting.value = ''
            }}
          >
            Add variable
          </Button>
        )
      }
    >
      <Loading of={found}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="key" title="No variables yet">
              <p class="soft">Use them in Compose files and commands as $NAME.</p>
            </Empty>
          ) : (
            <ul class="list">
              {items.map(one => (
                <Row
                  key={one.name}
                  variable={one}
                  mayChange={mayChange}
                  onSet={() => {
                    setting.value = one.name
                  }}
                  onRemove={() => {
                    removing.value = one.name
                  }}
                />
              ))}
            </ul>
          )
        }
      </Loading>
      {setting.value !== undefined && (
        <SetVariable
          scope={scope}
          words={words}
          name={setting.value}
          onClose={() => {
            setting.value = undefined
          }}
          onSet={() => void found.refresh()}
        />
      )}
      {removing.value !== undefined && (
        <RemoveVariable
          scope={scope}
          words={words}
          name={removing.value}
          onClose={() => {
            removing.value = undefined
          }}
          onRemoved={() => void found.refresh()}
        />
      )}
    </Section>
  )
}

const Row = ({
  variable: { name, set, by },
  mayChange,
  onSet,
  onRemove,
}: {
  readonly variable: ShownVariable
  readonly mayChange: boolean
  readonly onSet: () => void
  readonly onRemove: () => void
}) => (
  <li>
    <div class="row">
      <Icon name="key" />
      <span class="row-main block">
        <span class="cut">
          <code class="strong">{name}</code>
        </span>
        <span class="soft">
          set <Time at={set} /> by {by.login}
        </span>
      </span>
      {mayChange && (
        <>
          <Button aria-label={`Update ${name}`} onClick={onSet}>
            Update
          </Button>
          <Button look="ghost" icon="trash" aria-label={`Remove ${name}`} title={`Remove ${name}`} onClick={onRemove} />
        </>
      )}
    </div>
  </li>
)

type OfScope = Pick<ScopeProps, 'scope' | 'words'> & { readonly name: string; readonly onClose: () => void }

function SetVariable({ scope, words, name: given, onClose, onSet }: OfScope & { readonly onSet: () => void }) {
  const typed = useSignal(given)
  const value = useSignal('')
  const name = typed.value
  const error = name === '' ? undefined : variableNameProblem(name)
  const set = useAction(async () => {
    await platform.call('PUT /variables/:scope/:name', { params: { scope, name }, body: { value: value.value } })
    toast('good', `Saved ${name}`, 'The next deploy uses it.')
    onSet()
    onClose()
  })
  return (
    <FormDialog
      title={given === '' ? 'Add variable' : `Update ${given}`}
      action="Save"
      isBusy={set.isRunning}
      isReady={name !== '' && error === undefined}
      problem={set.problem}
      command={commandLine('devctl', 'variables', 'set', name === '' ? 'NAME' : name, ...words)}
      onClose={onClose}
      onSubmit={() => void set.run()}
    >
      {given === '' && (
        <Field
          label="Name"
          error={error && `This name is not allowed: ${error.replaceAll('`', '')}`}
          value={name}
          onValue={next => {
            typed.value = next
          }}
          maxLength={100}
          look="mono"
          autofocus
        />
      )}
      <TextArea
        label="Value"
        hint="It is not shown again, here or on the command line."
        value={value.value}
        onValue={next => {
          value.value = next
        }}
        autofocus={given !== ''}
      />
    </FormDialog>
  )
}

function RemoveVariable({ scope, words, name, onClose, onRemoved }: OfScope & { readonly onRemoved: () => void }) {
  const remove = useAction(async () => {
    await platform.call('DELETE /variables/:scope/:name', { params: { scope, name } })
    toast('good', `Removed ${name}`)
    onRemoved()
    onClose()
  })
  return (
    <FormDialog
      title={`Remove ${name}?`}
      action="Remove"
      isDanger
      isBusy={remove.isRunning}
      problem={remove.problem}
      command={commandLine('devctl', 'variables', 'unset', name, ...words)}
      onClose={onClose}
      onSubmit={() => void remove.run()}
    >
      <p class="soft">Its value is lost. What is running keeps it until the next deploy.</p>
    </FormDialog>
  )
}
