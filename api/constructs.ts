import { dirname, resolve } from 'node:path'
import type { Construct } from 'constructs'
import type { ComposeApplicationProps as PureProps } from '../constructs/compose-application.ts'
import { ComposeApplication as PureComposeApplication } from '../constructs/compose-application.ts'
import { fallbackName } from '../project/names/environment-name.ts'
import { createHost } from '../project/node-host.ts'

export type { CompilerHost, Diagnostic } from '../constructs/compose-application.ts'
/**
 * The `devctl/constructs` module: the constructs, with defaults for the host and the environment variables taken from
 * this machine and process.
 */
export { toManifests } from '../constructs/index.ts'
export type { KubernetesObject, Manifest } from '../constructs/manifest.ts'
export { printDocument, printStream, printYaml } from '../constructs/yaml.ts'

/**
 * The options of `devctl render`; relative paths are resolved against the working directory of the
 * process.
 */
export type ComposeApplicationProps = Omit<PureProps, 'host' | 'workingDirectory'> &
  Partial<Pick<PureProps, 'host' | 'workingDirectory'>>

/**
 * A Compose application within a cdk8s chart: adds the objects that `devctl render` prints to the chart's own
 * constructs. Throws one Error with all messages if the files have mistakes.
 */
export class ComposeApplication extends PureComposeApplication {
  constructor(scope: Construct, id: string, props: ComposeApplicationProps) {
    const workingDirectory = props.workingDirectory ?? process.cwd()
    const first = typeof props.file === 'string' ? props.file : props.file[0]
    const folder =
      props.projectDirectory ?? (first === undefined ? workingDirectory : dirname(resolve(workingDirectory, first)))
    super(scope, id, {
      fallbackName: fallbackName(folder),
      ...props,
      workingDirectory,
      host: props.host ?? createHost({ env: process.env }),
    })
  }
}
