type Variables = Readonly<Record<string, string | undefined>>

/**
 * Returns the environment with more settings for git, after its existing settings. Uses variables instead of options
 * because a setting may hold a token, and other users can see command lines
 * (https://git-scm.com/docs/git-config#Documentation/git-config.txt-GITCONFIGCOUNT).
 */
export function withSettings(env: Variables, settings: readonly (readonly [key: string, value: string])[]): Variables {
  const first = Number(env.GIT_CONFIG_COUNT ?? 0)
  const own = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ])
  return { ...env, ...Object.fromEntries(own), GIT_CONFIG_COUNT: String(first + settings.length) }
}
