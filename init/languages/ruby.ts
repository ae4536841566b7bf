import type { Guess, Recognised } from '../application.ts'
import type { ProjectFiles } from '../project-files.ts'
import { firstLine, version } from './versions.ts'

export function recogniseRuby(files: ProjectFiles): Recognised | undefined {
  const gemfile = files.text('Gemfile')
  if (gemfile === undefined) return undefined
  const { title, command, port } = frameworkOf(files, gemfile)
  return {
    title,
    marker: 'Gemfile',
    image: imageOf(files, gemfile),
    commands: [{ ...command, value: `bundle install && ${command.value}` }],
    ...(port !== undefined && { port: { value: port, from: 'the command' } }),
    debugger: { port: 12345, hint: 'when `rdbg --open --host 0.0.0.0 --port 12345` runs the program' },
    caches: ['/usr/local/bundle'],
    ignores: ['/vendor/bundle', '/tmp', '/log'],
  }
}

function frameworkOf(files: ProjectFiles, gemfile: string) {
  const has = (gem: string) => new RegExp(`^\\s*gem\\s+["']${gem}["']`, 'm').test(gemfile)
  if (has('rails') || files.has('bin/rails')) {
    const command = { value: 'bin/rails server --binding 0.0.0.0', from: 'bin/rails' }
    return { title: 'Ruby, Rails', command, port: 3000 }
  }
  if (files.has('config.ru')) {
    const command = { value: 'bundle exec rackup --host 0.0.0.0 --port 9292', from: 'config.ru' }
    return { title: has('sinatra') ? 'Ruby, Sinatra' : 'Ruby, Rack', command, port: 9292 }
  }
  const main = ['app.rb', 'main.rb', 'server.rb'].find(name => files.has(name))
  const command = main === undefined ? { value: 'bash' } : { value: `bundle exec ruby ${main}`, from: main }
  return { title: has('sinatra') ? 'Ruby, Sinatra' : 'Ruby', command, port: has('sinatra') ? 4567 : undefined }
}

function imageOf(files: ProjectFiles, gemfile: string): Guess<string> {
  const own = version(firstLine(files.text('.ruby-version')), 2)
  if (own !== undefined) return { value: `ruby:${own}`, from: '.ruby-version' }
  const named = version(/^\s*ruby\s+(["'].*)$/m.exec(gemfile)?.[1], 2)
  return named === undefined ? { value: 'ruby:3' } : { value: `ruby:${named}`, from: '`ruby` in Gemfile' }
}
