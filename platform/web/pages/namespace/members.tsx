import { useSignal } from '@preact/signals'
import type { Person } from '../../../api/common.ts'
import type { NamespaceDetails } from '../../../api/namespaces.ts'
import { Button } from '../../parts/forms/button.tsx'
import { FormDialog } from '../../parts/forms/dialog.tsx'
import { Select } from '../../parts/forms/field.tsx'
import { PersonSelect } from '../../parts/forms/person-select.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { PersonLine } from '../../parts/person.tsx'
import { Empty, ProblemBox } from '../../parts/problem.tsx'
import { useAction } from '../../state/action.ts'
import { platform } from '../../state/client.ts'
import { type Read, useResource } from '../../state/resource.ts'
import { isAdmin, me } from '../../state/session.ts'
import { toast } from '../../state/toasts.ts'
import { NamespaceFrame } from './frame.tsx'

type Role = NamespaceDetails['members'][number]['role']

const ROLES: readonly (readonly [Role, string])[] = [
  ['viewer', 'Viewer: can view'],
  ['developer', 'Developer: can deploy'],
  ['owner', 'Owner: can also share and delete'],
]

/** Returns the roles that the user can choose. A namespace has one owner, whom only an administrator can change. */
const roles = () => ROLES.filter(([role]) => role !== 'owner' || isAdmin.value)

const giveRole = (ns: string, user: string, role: Role): Promise<NamespaceDetails> =>
  role === 'owner'
    ? platform.call('PATCH /namespaces/:ns', { params: { ns }, body: { owner: user } })
    : platform.call('PUT /namespaces/:ns/members/:user', { params: { ns, user }, body: { role } })

/** Shows the members of a namespace and their roles. */
export function Members() {
  const isSharing = useSignal(false)
  return (
    <NamespaceFrame part="Members">
      {(namespace, of) => {
        const mayShare = namespace.role === 'owner' || isAdmin.value
        return (
          <Section
            title="Members"
            about="The cluster enforces these roles, for devctl and kubectl alike."
            actions={
              mayShare && (
                <Button
                  look="solid"
                  icon="share"
                  onClick={() => {
                    isSharing.value = true
                  }}
                >
                  Share
                </Button>
              )
            }
          >
            <ul class="list">
              {namespace.members.map(({ user, role }) => (
                <MemberRow key={user.id} namespace={namespace} of={of} user={user} role={role} mayShare={mayShare} />
              ))}
            </ul>
            {isSharing.value && (
              <Share
                namespace={namespace}
                of={of}
                onClose={() => {
                  isSharing.value = false
                }}
              />
            )}
          </Section>
        )
      }}
    </NamespaceFrame>
  )
}

interface InNamespace {
  readonly namespace: NamespaceDetails
  readonly of: Read<NamespaceDetails>
}

function MemberRow({
  namespace,
  of,
  user,
  role,
  mayShare,
}: InNamespace & { readonly user: Person; readonly role: Role; readonly mayShare: boolean }) {
  const params = { ns: namespace.name, user: user.id }
  const change = useAction(async (next: Role) => {
    of.put(await giveRole(namespace.name, user.id, next))
    toast('good', `${user.login} is now ${next} of ${namespace.name}`)
  })
  const remove = useAction(async () => {
    await platform.call('DELETE /namespaces/:ns/members/:user', { params })
    of.put({ ...namespace, members: namespace.members.filter(one => one.user.id !== user.id) })
    toast('good', `Removed ${user.login} from ${namespace.name}`)
  })
  const isOwner = user.id === namespace.owner.id
  const problem = change.problem ?? remove.problem
  return (
    <li>
      <div class="row">
        <span class="row-main">
          <PersonLine person={user} isYou={user.id === me.value?.id} />
        </span>
        {mayShare && !isOwner ? (
          <>
            <Select
              label={`Role of ${user.login}`}
              isLabelHidden
              value={role}
              options={roles().map(([value]) => [value, capital(value)] as const)}
              isDisabled={change.isRunning}
              onValue={next => void change.run(next)}
            />
            <Button
              look="ghost"
              icon="cross"
              isBusy={remove.isRunning}
              aria-label={`Remove ${user.login}`}
              title={`Remove ${user.login}`}
              onClick={() => void remove.run()}
            />
          </>
        ) : (
          <span class="soft">{capital(role)}</span>
        )}
      </div>
      {problem && <ProblemBox problem={problem} />}
    </li>
  )
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function Share({ namespace, of, onClose }: InNamespace & { readonly onClose: () => void }) {
  const users = useResource('GET /users', {})
  const chosen = useSignal('')
  const role = useSignal<Role>('developer')
  const isMember = new Set(namespace.members.map(one => one.user.id))
  const others = (users.state.value.data?.items ?? []).filter(one => !isMember.has(one.id))
  const user = others.find(one => one.id === chosen.value)
  const share = useAction(async () => {
    if (!user) return
    of.put(await giveRole(namespace.name, user.id, role.value))
    toast('good', `Shared ${namespace.name} with ${user.login}`)
    onClose()
  })
  const isNobody = users.state.value.data !== undefined && others.length === 0
  return (
    <FormDialog
      title={`Share ${namespace.name}`}
      action="Share"
      isBusy={share.isRunning}
      isReady={user !== undefined}
      problem={share.problem}
      command={`devctl namespace share ${namespace.name} ${user?.login ?? 'NAME'} --role ${role.value}`}
      onClose={onClose}
      onSubmit={() => void share.run()}
    >
      {isNobody ? (
        <Empty icon="users" title="Everyone is already a member">
          <p class="soft">People appear here after their first login.</p>
        </Empty>
      ) : (
        <>
          <PersonSelect
            label="Person"
            people={others}
            selected={user}
            onSelect={id => {
              chosen.value = id
            }}
          />
          <Select
            label="Role"
            value={role.value}
            options={roles()}
            onValue={value => {
              role.value = value
            }}
          />
        </>
      )}
    </FormDialog>
  )
}
