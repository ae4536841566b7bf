import { FromLaptop } from '../../parts/from-laptop.tsx'
import { Section } from '../../parts/page.tsx'
import { PersonLine } from '../../parts/person.tsx'
import { Time } from '../../parts/time.tsx'
import { me } from '../../state/session.ts'
import { NamespaceFrame } from './frame.tsx'

/** What a namespace is, and how something is deployed to it. */
export const NamespaceOverview = () => (
  <NamespaceFrame>
    {({ name, owner, created, lastActive, isPersistent }) => (
      <>
        <Section title="Deploy to it" about="In the folder of a Compose file.">
          <FromLaptop namespace={name} {...(me.value?.home !== undefined && { home: me.value.home })} />
        </Section>
        <Section title="About">
          <dl class="facts card">
            <dt>Owner</dt>
            <dd>
              <PersonLine person={owner} isYou={owner.id === me.value?.id} />
            </dd>
            <dt>Created</dt>
            <dd>
              <Time at={created} />
            </dd>
            <dt>Last active</dt>
            <dd>
              <Time at={lastActive} />
            </dd>
            <dt>When idle</dt>
            <dd>{isPersistent ? 'It is kept awake' : 'It falls asleep'}</dd>
          </dl>
        </Section>
      </>
    )}
  </NamespaceFrame>
)
