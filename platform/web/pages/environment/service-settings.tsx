import type { ComponentChildren } from 'preact'
import { printable } from '../../../../compiler/values/printable.ts'
import type { ShownService } from '../../../api/environments.ts'
import { addressOf } from '../../../api/pages.ts'
import type { ServiceSettings as Settings } from '../../../rules/runs/service-settings.ts'
import { SameOnCommandLine } from '../../parts/copy.tsx'
import { Place } from '../../parts/deployed.tsx'
import { Loading } from '../../parts/frame/loading.tsx'
import { Section } from '../../parts/frame/page.tsx'
import { useResource } from '../../state/resource.ts'
import { commandLine } from '../../state/shell-words.ts'

interface ServiceSettingsProps {
  readonly namespace: string
  readonly environment: string
  readonly service: ShownService
  /** URL of the forge's page that shows the line of the service in the Compose file; undefined if it is unknown. */
  readonly page: string | undefined
}

/** Polling interval in milliseconds. Only a deploy changes the settings. */
const EVERY = 60_000

/** Shows the settings of a service. They can only be changed in the Compose file, so this page is read-only. */
export function ServiceSettings({ namespace, environment, service, page }: ServiceSettingsProps) {
  const params = { ns: namespace, env: environment, service: service.name }
  const found = useResource('GET /namespaces/:ns/environments/:env/services/:service/settings', { params }, EVERY)
  return (
    <Section title="Settings" about="What the service runs with now. To change it, edit the Compose file and deploy.">
      <Loading of={found}>
        {settings => (
          <dl class="facts card">
            <Facts settings={settings} variablesPage={addressOf('variables', { ns: namespace })} />
            {service.place && (
              <>
                <dt>Defined in</dt>
                <dd>
                  <Place place={service.place} page={page} />
                </dd>
              </>
            )}
          </dl>
        )}
      </Loading>
      {service.workload !== undefined && (
        <SameOnCommandLine command={commandLine('kubectl', 'describe', service.workload, '--namespace', namespace)} />
      )}
    </Section>
  )
}

function Facts({ settings, variablesPage }: { readonly settings: Settings; readonly variablesPage: string }) {
  const { image, entrypoint, command, directory, replicas, ports, variables, volumes, checks, resources } = settings
  return (
    <>
      <Fact word="Image">{image === undefined ? <None /> : <code>{printable(image)}</code>}</Fact>
      {entrypoint && (
        <Fact word="Entrypoint">
          <code>{printable(commandLine(...entrypoint))}</code>
        </Fact>
      )}
      <Fact word="Command">
        {command ? <code>{printable(commandLine(...command))}</code> : <None>default of the image</None>}
      </Fact>
      {directory !== undefined && (
        <Fact word="Working directory">
          <code>{printable(directory)}</code>
        </Fact>
      )}
      {replicas !== undefined && <Fact word="Replicas">{replicas}</Fact>}
      <Fact word="Ports">
        {ports.length === 0 ? <None /> : <span class="words">{ports.map(one => code(one))}</span>}
      </Fact>
      <Fact word="Variables">
        {variables.length === 0 ? (
          <None />
        ) : (
          <div class="stack tight">
            <Entries all={variables.map(({ name, from }) => [name, from === undefined ? '' : `from ${from}`])} />
            <p class="soft">
              Values are hidden. To set variables for deploys, go to{' '}
              <a class="link" href={variablesPage}>
                Variables
              </a>
              .
            </p>
          </div>
        )}
      </Fact>
      <Fact word="Volumes">
        {volumes.length === 0 ? (
          <None />
        ) : (
          <Entries
            all={volumes.map(({ path, from, isReadOnly }) => [
              path,
              [from, isReadOnly ? 'read-only' : undefined].filter(Boolean).join(', '),
            ])}
          />
        )}
      </Fact>
      <Fact word="Health checks">
        {checks.length === 0 ? (
          <None>none; ready as soon as it has started</None>
        ) : (
          <Entries
            all={checks.map(({ kind, does, every, failures }) => [
              does,
              `${kind}, every ${every} s, fails after ${failures} ${failures === 1 ? 'failure' : 'failures in a row'}`,
            ])}
          />
        )}
      </Fact>
      <Fact word="Resources">
        {resources.length === 0 ? (
          <None>no requests or limits</None>
        ) : (
          <Entries
            all={resources.map(({ name, request, limit }) => [
              name,
              [request && `request ${request}`, limit && `limit ${limit}`].filter(Boolean).join(', '),
            ])}
          />
        )}
      </Fact>
    </>
  )
}

const Fact = ({ word, children }: { readonly word: string; readonly children: ComponentChildren }) => (
  <>
    <dt>{word}</dt>
    <dd>{children}</dd>
  </>
)

const None = ({ children = 'none' }: { readonly children?: ComponentChildren }) => <span class="soft">{children}</span>

const code = (text: string) => <code key={text}>{printable(text)}</code>

/** Renders one name per line, with its description. */
const Entries = ({ all }: { readonly all: readonly (readonly [name: string, about: string])[] }) => (
  <ul class="stack tight">
    {all.map(([name, about]) => (
      <li key={`${name} ${about}`}>
        {code(name)} {about !== '' && <span class="soft">{printable(about)}</span>}
      </li>
    ))}
  </ul>
)
