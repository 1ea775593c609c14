"""`counterpoint completion`: scripts that complete the command line in a shell."""

from __future__ import annotations

import argparse

from checker.arguments import COMMANDS, build
from checker.console import Console
from checker.exitcode import ExitCode

_OF_MODELS = ("check", "diff", "run", "crashpoints", "sweep", "graph", "trace", "replay", "draw")
"""The commands whose arguments are models."""


def run(arguments: argparse.Namespace, console: Console) -> ExitCode:
    """Prints the script for the shell that was named."""
    console.show(script(arguments.shell))
    return ExitCode.MET


def script(shell: str) -> str:
    """The completion script for `bash`, `zsh` or `fish`, made from the parser's own options."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _bash() -> str:
    cases = "\n".join(
        f"    {name}) words='{' '.join(flag for flag, _, _ in _options(name))}{_values(name)}' ;;" for name in COMMANDS
    )
    choices = "\n".join(
        f"    {flag}) COMPREPLY=( $(compgen -W '{' '.join(values)}' -- \"$current\") ); return ;;"
        for flag, values in _choices().items()
    )
    return f"""\
# Completion of counterpoint for bash:  source <(counterpoint completion bash)
_counterpoint() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=( $(compgen -W '{" ".join(COMMANDS)} --help --version' -- "$current") )
    return
  fi
  case "$previous" in
{choices}
  esac
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "${{COMP_WORDS[1]}}" in
    {"|".join(_OF_MODELS)})
      if [ "${{current#-}}" = "$current" ]; then
        words="$words $(counterpoint list --names 2>/dev/null)"
        COMPREPLY=( $(compgen -W "$words" -- "$current") $(compgen -d -- "$current") )
        COMPREPLY+=( $(compgen -f -X '!*.cpt' -- "$current") $(compgen -f -X '!*.json' -- "$current") )
        return
      fi ;;
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
}}
complete -o filenames -F _counterpoint counterpoint
"""


def _zsh() -> str:
    cases = "\n".join(f"    {name}) _arguments {_zsh_options(name)} {_zsh_rest(name)} ;;" for name in COMMANDS)
    commands = " ".join(f"'{name}:{_quote(told)}'" for name, told in _commands().items())
    return f"""\
#compdef counterpoint
# Completion of counterpoint for zsh:  counterpoint completion zsh > "${{fpath[1]}}/_counterpoint"
_counterpoint_models() {{
  local -a names
  names=( ${{(f)"$(counterpoint list --names 2>/dev/null)"}} )
  compadd -a names
  _files -g '*.(cpt|json)'
}}
_counterpoint() {{
  local -a commands
  commands=( {commands} )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
{cases}
  esac
}}
if [ "$funcstack[1]" = _counterpoint ]; then
  _counterpoint "$@"
else
  compdef _counterpoint counterpoint
fi
"""


def _fish() -> str:
    lines = [
        "# Completion of counterpoint for fish:  counterpoint completion fish | source",
        "complete -c counterpoint -f",
    ]
    for name, told in _commands().items():
        lines.append(f"complete -c counterpoint -n __fish_use_subcommand -a {name} -d '{_quote(told)}'")
    for name in COMMANDS:
        condition = f"-n '__fish_seen_subcommand_from {name}'"
        for flag, told, values in _options(name):
            kind = f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
            given = f" -x -a '{' '.join(values)}'" if values else ""
            lines.append(f"complete -c counterpoint {condition} {kind} -d '{_quote(told)}'{given}")
    models = "-a '(counterpoint list --names 2>/dev/null; __fish_complete_suffix .cpt; __fish_complete_suffix .json)'"
    lines.append(f"complete -c counterpoint -n '__fish_seen_subcommand_from {' '.join(_OF_MODELS)}' {models}")
    lines.append("complete -c counterpoint -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'")
    return "\n".join(lines) + "\n"


def _parsers() -> dict[str, argparse.ArgumentParser]:
    actions = build()._actions
    chosen = next(action for action in actions if isinstance(action, argparse._SubParsersAction))
    return {name: chosen.choices[name] for name in COMMANDS}


def _commands() -> dict[str, str]:
    chosen = next(action for action in build()._actions if isinstance(action, argparse._SubParsersAction))
    return {choice.dest: choice.help or "" for choice in chosen._choices_actions}


def _options(command: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Flag, help, fixed values of each option of a command."""
    return [
        (flag, (action.help or "").replace("%%", "%"), tuple(map(str, action.choices or ())))
        for action in _parsers()[command]._actions
        for flag in action.option_strings
    ]


def _values(command: str) -> str:
    return " bash zsh fish" if command == "completion" else ""


def _choices() -> dict[str, tuple[str, ...]]:
    return {flag: values for name in COMMANDS for flag, _, values in _options(name) if values}


def _zsh_options(command: str) -> str:
    parts = []
    for action in _parsers()[command]._actions:
        for flag in action.option_strings:
            told = _quote(action.help or "").replace("[", "(").replace("]", ")").replace(":", " ")
            values = f":value:({' '.join(map(str, action.choices))})" if action.choices else ""
            if not values and action.nargs != 0:
                values = ":value:"
            parts.append(f"'*{flag}[{told}]{values}'")
    return " ".join(parts)


def _zsh_rest(command: str) -> str:
    if command == "completion":
        return "'1:shell:(bash zsh fish)'"
    return "'*:model:_counterpoint_models'" if command in _OF_MODELS else ""


def _quote(text: str) -> str:
    return text.replace("'", "").replace('"', "")
