/** Shells that `devctl completion` has a script for. */
export type Shell = 'bash' | 'zsh' | 'fish' | 'powershell'

/** Completion scripts. They only pass the line to `devctl __complete`, and show its answer. */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  // For bash 3.2, the version of macOS, and later.
  bash: `# Completion of devctl for bash: eval "$(devctl completion bash)"
_devctl() {
  local line kind=
  COMPREPLY=()
  while IFS= read -r line; do
    if [ -z "$kind" ]; then kind=$line; else COMPREPLY+=("$line"); fi
  done < <(command devctl __complete bash "\${COMP_LINE:0:COMP_POINT}" "$2" "\${COMP_TYPE:-9}" "\${COLUMNS:-80}" \\
    2>/dev/null </dev/null)
  case $kind in
    no-space) compopt -o nospace 2>/dev/null ;;
    files) compopt -o default 2>/dev/null || _devctl_paths -f "$2" ;;
    folders) compopt -o dirnames 2>/dev/null || _devctl_paths -d "$2" ;;
  esac
}
# Bash 3.2 has no compopt.
_devctl_paths() {
  local path
  while IFS= read -r path; do COMPREPLY+=("$(printf %q "$path")"); done < <(compgen "$1" -- "$2")
}
complete -F _devctl devctl
`,
  zsh: `#compdef devctl
# Completion of devctl for zsh: devctl completion zsh > a folder of your fpath/_devctl
_devctl() {
  local -a answer more
  answer=("\${(@f)$(command devctl __complete zsh "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  local kind=$answer[1]
  shift answer
  if [[ $PREFIX = --*=* ]]; then compset -P 1 '*='; fi
  case $kind in
    files) _files ;;
    folders) _files -/ ;;
    *)
      if [[ $kind = no-space ]]; then more=(-S ''); fi
      if (($#answer)); then _describe -t values value answer "\${(@)more}"; fi ;;
  esac
}
if [ "$funcstack[1]" = _devctl ]; then _devctl "$@"; else compdef _devctl devctl; fi
`,
  fish: `# Completion of devctl for fish: devctl completion fish > ~/.config/fish/completions/devctl.fish
function __devctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer (command devctl __complete fish $words[2..-1] "$current" 2>/dev/null </dev/null)
    switch "$answer[1]"
        case files folders
            # The option before the path, and the path without quotes.
            set -l option $answer[2]
            set -l path $answer[3]
            if test $answer[1] = files
                printf '%s\\n' "$option"(__fish_complete_path "$path")
            else
                printf '%s\\n' "$option"(__fish_complete_directories "$path" '')
            end
        case '*'
            printf '%s\\n' $answer[2..-1]
    end
end
complete -c devctl -f -a '(__devctl_complete)'
`,
  powershell: `# Completion of devctl for PowerShell: devctl completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName devctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    # The syntax tree ends before the blanks at the cursor.
    $length = $cursorPosition - $commandAst.Extent.StartOffset
    $line = $commandAst.Extent.Text.PadRight($length).Substring(0, $length)
    $saved = $env:DEVCTL_COMPLETE_LINE
    try {
        $env:DEVCTL_COMPLETE_LINE = $line
        $answer = @($null | devctl __complete powershell 2>$null)
    } finally {
        $env:DEVCTL_COMPLETE_LINE = $saved
    }
    # PowerShell lists files if there is no result at all.
    if ($answer[0] -in 'files', 'folders') { return }
    if ($answer.Count -lt 2) { return '' }
    $answer | Select-Object -Skip 1 | ForEach-Object {
        $text, $shown, $tip = $_ -split "\`t", 3
        [System.Management.Automation.CompletionResult]::new($text, $shown, 'ParameterValue', $tip)
    }
}
`,
}
