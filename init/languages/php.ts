import type { Guess, Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { version } from './versions.ts'

export function recognisePhp(files: ProjectFiles): Recognised | undefined {
  const composer = files.text('composer.json')
  if (composer === undefined) return undefined
  const isLaravel = composer.includes('"laravel/framework"')
  return {
    title: isLaravel ? 'PHP, Laravel' : composer.includes('"symfony/') ? 'PHP, Symfony' : 'PHP',
    marker: 'composer.json',
    image: imageOf(composer),
    commands: [isLaravel ? { value: 'php artisan serve --host=0.0.0.0 --port=8000', from: 'artisan' } : ofPhp(files)],
    port: { value: 8000, from: 'the command' },
    debugger: {
      port: 9003,
      hint: 'for Xdebug, which connects to the laptop: `xdebug.client_host=127.0.0.1`',
      connects: true,
    },
    caches: ['/root/.composer'],
    // The image has no Composer, so the packages from the laptop are used, which work on any system.
    ignores: [],
  }
}

function ofPhp(files: ProjectFiles): Guess<string> {
  const folder = ['public/', 'web/'].find(name => files.names().includes(name))?.slice(0, -1)
  return folder === undefined
    ? { value: 'php -S 0.0.0.0:8000' }
    : { value: `php -S 0.0.0.0:8000 -t ${folder}`, from: folder }
}

function imageOf(composer: string): Guess<string> {
  const named = version(/"php"\s*:\s*"([^"]*)/.exec(composer)?.[1], 2)
  return named === undefined
    ? { value: 'php:8-cli' }
    : { value: `php:${named}-cli`, from: '`require.php` in composer.json' }
}
