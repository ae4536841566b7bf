import type { Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { version } from './versions.ts'

export function recogniseDotnet(files: ProjectFiles): Recognised | undefined {
  const marker = files.sources(['.csproj', '.fsproj']).find(path => path.split('/').length <= 3)
  if (marker === undefined) return undefined
  const text = files.text(marker) ?? ''
  const named = version(/<TargetFrameworks?>[^<]*?net(?:coreapp)?(\d+\.\d+)/.exec(text)?.[1], 2)
  const isWeb = text.includes('Microsoft.NET.Sdk.Web')
  const project = marker.includes('/') ? ` --project ${marker.slice(0, marker.lastIndexOf('/'))}` : ''
  const watch = `dotnet watch${project} run`
  return {
    title: isWeb ? '.NET, ASP.NET Core' : '.NET',
    marker,
    image:
      named === undefined
        ? { value: 'mcr.microsoft.com/dotnet/sdk:8.0' }
        : { value: `mcr.microsoft.com/dotnet/sdk:${named}`, from: `\`TargetFramework\` in ${marker}` },
    commands: [{ value: isWeb ? `${watch} --urls http://0.0.0.0:8080` : watch, from: marker }],
    ...(isWeb && { port: { value: 8080, from: 'the command' } }),
    caches: ['/root/.nuget/packages'],
    ignores: ['bin', 'obj'],
  }
}
