import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { ShownUser } from '../../../api/users.ts'
import { Command } from '../../parts/copy.tsx'
import { Button } from '../../parts/forms/button.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { Field, Select } from '../../parts/forms/field.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Page, Section } from '../../parts/frame/page.tsx'
import { PersonLine } from '../../parts/person.tsx'
import { Empty, ProblemBox } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { find } from '../../state/find.ts'
import { useResource } from '../../state/resource.ts'
import { me } from '../../state/session.ts'
import { toast } from '../../state/toasts.ts'

/** Shows administrators all users who have logged in. */
export function Users() {
  const users = useResource('GET /admin/users', {})
  const { query } = useLocation()
  const search = useSignal(query['find'] ?? '')
  // The platform's search opens this page with a query, even if it is already open.
  useEffect(() => {
    if (query['find'] !== undefined) search.value = query['find']
  }, [query['find']])
  return (
    <Page title="People">
      <Section
        title="Everyone who has logged in"
        about="Administrators manage people and namespaces, but cannot see what runs in namespaces of others."
      >
        <Loading of={users}>
          {({ items }) => (
            <>
              <Field
                label="Filter"
                value={search.value}
                onValue={value => {
                  search.value = value
                }}
                placeholder="Name, login or email"
              />
              <People
                items={find(items.map(toFindable), search.value).map(one => one.user)}
                onChanged={changed => users.put({ items: items.map(one => (one.id === changed.id ? changed : one)) })}
              />
            </>
          )}
        </Loading>
      </Section>
      <Section
        title="Invite someone"
        about="Prints a single-use invitation that is valid for one hour. Requires the rights of a cluster administrator."
      >
        <Command lines={['devctl platform invite NAME']} />
      </Section>
    </Page>
  )
}

const toFindable = (user: ShownUser) => ({
  user,
  text: user.login,
  also: [user.name, user.email, user.role, user.isSuspended ? 'suspended' : ''].join(' '),
})

interface PeopleProps {
  readonly items: readonly ShownUser[]
  readonly onChanged: (user: ShownUser) => void
}

const People = ({ items, onChanged }: PeopleProps) =>
  items.length === 0 ? (
    <Empty icon="search" title="No matching people" />
  ) : (
    <ul class="list">
      {items.map(user => (
        <UserRow key={user.id} user={user} onChanged={onChanged} />
      ))}
    </ul>
  )

const ROLES = [
  ['developer', 'Developer'],
  ['admin', 'Administrator'],
] as const

function UserRow({ user, onChanged }: { readonly user: ShownUser; readonly onChanged: (user: ShownUser) => void }) {
  const isAsked = useSignal(false)
  const change = useAction(async (body: { readonly role?: ShownUser['role']; readonly isSuspended?: boolean }) => {
    onChanged(await platform.call('PATCH /admin/users/:user', { params: { user: user.id }, body }))
    isAsked.value = false
    toast('good', `Updated ${user.login}`)
  })
  const isYou = user.id === me.value?.id
  return (
    <li>
      <div class="row">
        <span class="row-main">
          <PersonLine person={user} isYou={isYou} />
        </span>
        {user.isSuspended && <State tone="bad" icon="lock" word="Suspended" />}
        <span class="row-side soft">
          last login <Time at={user.lastLogin} />
        </span>
        <Select
          label={`Role of ${user.login}`}
          isLabelHidden
          value={user.role}
          options={ROLES}
          isDisabled={isYou || change.isRunning}
          onValue={role => void change.run({ role })}
        />
        {user.isSuspended ? (
          <Button isBusy={change.isRunning} onClick={() => void change.run({ isSuspended: false })}>
            Unsuspend
          </Button>
        ) : (
          <Button
            disabled={isYou}
            aria-label={`Suspend ${user.login}`}
            onClick={() => {
              isAsked.value = true
            }}
          >
            Suspend
          </Button>
        )}
      </div>
      {change.problem && !isAsked.value && <ProblemBox problem={change.problem} />}
      {isAsked.value && (
        <FormDialog
          title={`Suspend ${user.login}?`}
          action="Suspend"
          isDanger
          isBusy={change.isRunning}
          problem={change.problem}
          onClose={() => {
            isAsked.value = false
          }}
          onSubmit={() => void change.run({ isSuspended: true })}
        >
          <p class="soft">
            Their sessions, tokens and runs end within seconds. Their namespaces stay. You can unsuspend them at any
            time.
          </p>
        </FormDialog>
      )}
    </li>
  )
}
