import { resolve } from 'node:path'
import type { RegistryCredentials } from '../adapters/registry/docker-config.ts'
import type { KnownSecrets } from '../compiler/values/secrets/known-secrets.ts'

/** Location of the images of a namespace of a platform. */
export interface NamespaceImages {
  /** Their names begin so: `images.dev.example.com/shop-1f2e3d4c`. */
  readonly name: string
  /** The login for a registry, if it is this one and takes those of the platform. */
  login(registry: string): Promise<RegistryCredentials | undefined>
}

/**
 * Environment in which an operation runs, and what it may read there. A terminal, a server and a program each provide
 * one.
 */
export interface Workspace {
  /** Absolute path of the folder that relative paths are of. Reading it throws a UserError when it has been removed. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** All of the text that `-` stands for; reads it on the first call. */
  readonly readStdin: () => Promise<Uint8Array>
  /**
   * The secret values that an operation finds are put in here, so that they can be taken out of all that is written.
   */
  readonly secrets?: KnownSecrets
  /**
   * Names of variables whose values are secret because of how they were given (`--var`); the variables are in `env`,
   * too.
   */
  readonly givenVariables?: ReadonlySet<string>
  /** The variables of the platform that is deployed to: the last place in which one is looked for. All are secret. */
  readonly platformVariables?: ReadonlyMap<string, string>
  /**
   * The workspace is for a platform: people who may not see values read what is deployed, so that secret ones go into
   * Secrets.
   */
  readonly hasViewers?: true
  /**
   * Variables that commands have handed on, now or at the last deploy: the first place in which one of a Compose file
   * is looked for.
   */
  readonly handedVariables?: ReadonlyMap<string, string>
  /** Location of the namespace's images on the target platform; absent if the platform does not report it. */
  readonly platformImages?: NamespaceImages
}

/**
 * Returns the workspace with variables that commands have handed on: for Compose files, and no program. Secret names
 * make them secret.
 */
export function withHanded<W extends Workspace>(workspace: W, variables: Readonly<Record<string, string>>): W {
  workspace.secrets?.addVariables(variables)
  return { ...workspace, handedVariables: new Map(Object.entries(variables)) }
}

/** Returns the workspace with more variables, also for programs. Secret names make them secret. */
export function withVariables<W extends Workspace>(workspace: W, variables: Readonly<Record<string, string>>): W {
  workspace.secrets?.addVariables(variables)
  return { ...workspace, env: { ...workspace.env, ...variables } }
}

/**
 * The workspace of a folder, for programs: by default that of the process, with its variables. Standard input is not
 * read.
 */
export const workspaceOf = ({
  cwd = process.cwd(),
  env = process.env,
}: Partial<Pick<Workspace, 'cwd' | 'env'>> = {}): Workspace => ({
  cwd: resolve(cwd),
  env,
  readStdin: async () => new Uint8Array(),
})
