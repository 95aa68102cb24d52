#!/usr/bin/env python3
"""Makes a shell's completion out of what the program itself says of its commands.

make.py SHELL PROGRAM > FILE

SHELL is bash, zsh or fish. Options, their summaries and the commands come from --help. What values
an option takes is told by the word behind it there (FILE, DIR, on|off, sim|window), or by VALUES.
"""
import re
import subprocess
import sys

# Of options whose help has the values in its sentence; what is listed has to be in that sentence.
VALUES = {
    ("play", "compositor"): "none weston sway cage gamescope",
    ("play", "gate"): "off vsync cap latency",
    ("play", "namespace"): "auto yes no",
    ("play", "watch"): "sampled full off",
    ("serve", "watch"): "sampled full off",
    ("simulate", "gate"): "off vsync cap latency",
    ("simulate", "guest"): "early late",
    ("build", "target"): "host linux-arm64 host-android android-arm64",
    ("build", "mesa"): "auto git debian",
    ("build", "variants"): "b,p b p",
    ("inspect", "importer"): "all adrenotools gamenative winlator winnative strato rpcsx dolphin yuzu "
                             "citra ppsspp vita3k micewine",
    ("patch", "target"): "host linux-arm64 host-android android-arm64",
}
# Commands whose arguments are no files.
NO_FILES = {"serve", "simulate", "notes", "top", "build"}
FOLDERS = {"patch"}
FILES = re.compile(r"(\b|[^A-Z])(FILE|ZIP|SO|PATH|LOG|CAPTURE|SPEC|F|K|P|N\.zip)\b|F\.[a-z0-9]+|DIR")


def say(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def entries(text):
    """Lines of two columns, and what goes on under the second."""
    out = []
    for line in text.splitlines():
        m = re.match(r"  (\S.*?)  +(\S.*)$", line)
        if m:
            out.append([m[1], m[2]])
        elif line.startswith("  -"):
            out.append([line.strip(), ""])
        elif out and re.match(r"\s{10,}\S", line):
            out[-1][1] += " " + line.strip()
        elif not line.strip() and out:
            out.append(["", ""])
    return [e for e in out if e[0]]


def first_words(text):
    """A summary that fits beside an option."""
    text = re.split(r"[;:] |\. ", re.sub(r" ?\([^)]*\)", "", text))[0]
    return text.replace("'", "’").replace('"', "”").replace("[", "(").replace("]", ")")


def commands(program):
    out = {}
    for name, summary in re.findall(r"^  ([a-z]+) +(\S.*)$", say(program, "--help"), re.M):
        options = []
        for head, text in entries(say(program, name, "--help")):
            for option, word in re.findall(r"--([a-z-]+)(?:[ =](?!-)([^\s,]\S*?))?(?=, -|$)", head):
                options.append((option, word, first_words(text), head + " " + text))
        options.append(("help", "", "what there is to say", ""))
        out[name] = (first_words(summary), options)
    return out


def values(command, option, word, text):
    """(kind, words): of "none", "words", "files", "folders", "any"."""
    if (command, option) in VALUES:
        words = VALUES[command, option].split()
        for w in words:
            if w not in text:
                sys.exit(f"{command} --{option}: its help does not know '{w}' any more")
        return "words", words
    if not word:
        return "none", []
    if word == "b|p":
        return "words", ["b", "p"]
    m = re.match(r"[a-z]+(\|[a-z]+)+", word)
    if m:
        return "words", m[0].split("|")
    if word == "DIR":
        return "folders", []
    return ("files" if FILES.search(word) else "any"), []


def bash(table):
    print("# bash completion of turnpike; made from its --help.\n_turnpike()\n{")
    print("    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}")
    print("    local i options files=1\n    COMPREPLY=()")
    print("    compopt -o default 2>/dev/null # what is not known below: files")
    print("    if ((COMP_CWORD == 1)); then")
    print(f"        COMPREPLY=($(compgen -W '{' '.join(table)} --help --version' -- \"$cur\"))\n        return\n    fi")
    print("    # Behind -- is another program's line.")
    print("    for ((i = 2; i < COMP_CWORD; i++)); do")
    print("        if [[ ${COMP_WORDS[i]} == -- ]]; then\n            ((COMP_CWORD == i + 1)) && "
          "COMPREPLY=($(compgen -c -- \"$cur\"))\n            return\n        fi\n    done")
    print("    case $command:$prev in")
    for name, (_, options) in table.items():
        for option, word, _, text in options:
            kind, words = values(name, option, word, text)
            if kind == "words":
                print(f"    {name}:--{option}) COMPREPLY=($(compgen -W '{' '.join(words)}' -- \"$cur\"))"
                      "; compopt +o default 2>/dev/null; return ;;")
            elif kind == "folders":
                print(f"    {name}:--{option}) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;")
            elif kind == "files":
                print(f"    {name}:--{option}) return ;;")
            elif kind == "any":
                print(f"    {name}:--{option}) compopt +o default 2>/dev/null; return ;;")
    print("    esac\n    case $command in")
    for name, (_, options) in table.items():
        print(f"    {name}) options='{' '.join('--' + o[0] for o in options)}'"
              f"{'; files=' if name in NO_FILES else ''} ;;")
    print("    esac")
    print("    [[ $cur == -* || ! $files ]] && COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))")
    print("    [[ $files ]] || compopt +o default 2>/dev/null\n}\ncomplete -F _turnpike turnpike")


def zsh(table):
    print("#compdef turnpike\n# zsh completion of turnpike; made from its --help.\n")
    print("local -a commands\ncommands=(")
    for name, (summary, _) in table.items():
        print(f"    '{name}:{summary}'")
    print(")\nif (( CURRENT == 2 )); then\n    _describe command commands\n    return\nfi")
    print("local command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in")
    for name, (_, options) in table.items():
        print(f"{name})\n    _arguments -s \\")
        for option, word, summary, text in options:
            kind, words = values(name, option, word, text)
            label = word.replace(":", "").replace("[", "(").replace("]", ")")
            action = {"none": "", "words": f":{option}:({' '.join(words)})", "files": f":{label}:_files",
                      "folders": f":{label}:_files -/", "any": f":{label}: "}[kind]
            summary = summary.replace(":", "\\:")
            print(f"        '--{option}[{summary}]{action}' \\")
        rest = ("'*:: :_normal'" if name == "play" else "'*:folder:_files -/'" if name in FOLDERS else
                "" if name in NO_FILES else "'*:file:_files'")
        print(f"        {rest}\n    ;;" if rest else "        && return\n    ;;")
    print("esac")


def fish(table):
    print("# fish completion of turnpike; made from its --help.")
    print("complete -c turnpike -n __fish_use_subcommand -f")
    for name, (summary, options) in table.items():
        print(f"complete -c turnpike -n __fish_use_subcommand -a {name} -d '{summary}'")
        seen = f"-n '__fish_seen_subcommand_from {name}'"
        if name in NO_FILES:
            print(f"complete -c turnpike {seen} -f")
        for option, word, summary, text in options:
            kind, words = values(name, option, word, text)
            action = {"none": "", "words": f" -x -a '{' '.join(words)}'", "files": " -r -F",
                      "folders": " -x -a '(__fish_complete_directories)'", "any": " -x"}[kind]
            print(f"complete -c turnpike {seen} -l {option}{action} -d '{summary}'")


{"bash": bash, "zsh": zsh, "fish": fish}[sys.argv[1]](commands(sys.argv[2]))
