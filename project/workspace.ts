import { resolve } from 'node:path'
import type { RegistryCredentials } from '../adapters/registry/docker-config.ts'
import type { KnownSecrets } from '../compiler/values/secrets/known-secrets.ts'

/** Registry path of the images of a platform's namespace, and the login for it. */
export interface NamespaceImages {
  /** Prefix of the image names, such as `images.dev.example.com/shop-1f2e3d4c`. */
  readonly name: string
  /** Returns the login for a registry if the registry hosts these images and accepts logins of the platform. */
  login(registry: string): Promise<RegistryCredentials | undefined>
}

/**
 * Environment in which an operation runs, with everything that it may read there. A terminal, a server and a program
 * each provide one.
 */
export interface Workspace {
  /**
   * Absolute path of the folder against which relative paths are resolved. Reading it throws a UserError if the folder
   * has been deleted.
   */
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Returns all bytes of standard input (`-`). The first call reads them, later calls return the same bytes. */
  readonly readStdin: () => Promise<Uint8Array>
  /** Collects the secret values that an operation finds, so that they can be masked in all output. */
  readonly secrets?: KnownSecrets
  /**
   * Names of variables whose values are secret because they were passed with `--var`; the variables are also in `env`.
   */
  readonly givenVariables?: ReadonlySet<string>
  /** Variables of the target platform, used as a fallback after all other sources. All are secret. */
  readonly platformVariables?: ReadonlyMap<string, string>
  /**
   * Set if the workspace is for a platform: users without permission to see secret values can read what is deployed, so
   * secret values are put into Secrets.
   */
  readonly hasViewers?: true
  /**
   * Variables that commands have exported, now or at the last deploy. In a Compose file, they take precedence over the
   * variables of the shell and the platform.
   */
  readonly handedVariables?: ReadonlyMap<string, string>
  /**
   * Contents of files, by absolute path, that are read instead of the files on disk: texts that are open in an editor,
   * and secrets for which no file may be written.
   */
  readonly unsaved?: ReadonlyMap<string, string | Uint8Array>
  /** Location of the namespace's images on the target platform; absent if the platform does not report it. */
  readonly platformImages?: NamespaceImages
}

/**
 * Returns the workspace with variables that commands have exported. They apply to Compose files, but not to programs.
 * Variables with secret names become secret.
 */
export function withHanded<W extends Workspace>(workspace: W, variables: Readonly<Record<string, string>>): W {
  workspace.secrets?.addVariables(variables)
  return { ...workspace, handedVariables: new Map(Object.entries(variables)) }
}

/**
 * Returns the workspace with additional variables, which also apply to programs. Variables with secret names become
 * secret.
 */
export function withVariables<W extends Workspace>(workspace: W, variables: Readonly<Record<string, string>>): W {
  workspace.secrets?.addVariables(variables)
  return { ...workspace, env: { ...workspace.env, ...variables } }
}

/**
 * Returns the workspace of a folder for programs; by default the folder and variables of the process. Does not read
 * standard input.
 */
export const workspaceOf = ({
  cwd = process.cwd(),
  env = process.env,
}: Partial<Pick<Workspace, 'cwd' | 'env'>> = {}): Workspace => ({
  cwd: resolve(cwd),
  env,
  readStdin: async () => new Uint8Array(),
})
