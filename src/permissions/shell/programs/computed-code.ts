/** Code on a line that runs commands or opens files by names that it puts together: what they are is only known when it runs. */

import type { Computed } from '../parse/command.ts'
import { awkStarts, bareAwk } from './languages.ts'

export function computedIn(name: string, code: readonly string[]): Computed {
  if (code.length === 0 || name === 'sed') return { commands: false, files: false }
  if (/^[gmn]?awk$/.test(name)) return awkComputes(code)
  const text = code.join('\n')
  const reflects = reflection.test(text)
  const starts = calls(text, starting)
  const commands =
    reflects || starts.some((rest) => !plainCommand.test(rest)) || (starts.length === 0 && startsPrograms.test(text))
  const opens = calls(text, opening)
  const files = reflects || moving.test(text) || opens.some((rest) => !plainFile.test(rest)) || pathMethods(text)
  return { commands, files }
}

/** By these code reaches functions that it does not name. */
const reflection =
  /\b(eval|exec|__import__|importlib|runpy|getattr|attrgetter|globals|__dict__|__builtins__|builtins|ctypes|cffi|CDLL|instance_eval|class_eval|module_eval|public_send|__send__|const_get|call_user_func\w*|create_function|loadstring|dofile|loadfile|dlopen|unpickle|vm|constructor|_load|createRequire|mainModule|getBuiltinModule)\b(?!\s*=[^=])|\b(pickle|marshal)\.loads?|\bFunction\s*\(|\bprocess\.(binding|_linkedBinding)|\b(require|import)\s*\(\s*(?!["'][^"'\\]*["']\s*\))|\[[^\]]*["'`]\s*[+.]|&\s*[{$]|->\s*\$|\bno\s+strict|\$\w+\s*\(|\bdo\s+["'$]/

/** What starts a program. `run` and its like do so where a module for it is named. */
const starting =
  /(?:\b(?:system|popen\w*|execSync|execFile\w*|execvp?e?|execlp?e?|spawn\w*|posix_spawnp?|startfile|shell_exec|passthru|proc_open|pcntl_exec|syscall|Popen|check_output|check_call|getoutput|getstatusoutput|capture[23]e?|os\.execute)\b|(?<=\bsubprocess\.)(?:run|call)\b|(?<=\w\.)run\b(?=\s*\(\s*[^)])|(?<=\bchild_process["']\)\.)\w+)/g
const startsPrograms = /\b(subprocess|child_process|pty|Open3|multiprocessing|pexpect|IPC::)\b|`[^`]*[$#]|\bqx\b|%x/

/** What opens, lists, moves or removes a file by its first argument. */
const opening =
  /\b(?:open|fopen|sysopen|opendir|file_get_contents|file_put_contents|readfile|readFile|readFileSync|writeFile|writeFileSync|appendFile|appendFileSync|createReadStream|createWriteStream|openSync|unlink|unlinkSync|rename|renameSync|copyFile|copyFileSync|copyfile|copy2?|symlink|link|remove|replace(?=\s*\(\s*f)|fileinput\.input|slurp|foreach|readlines|io\.lines|sendfile|Path|File\.(?:read|write|delete|new)|IO\.read)\b(?=\s*[("'$]|\s+\w+\s*,)/g

/** Trees and other places: what is read by them is not in the code. */
const moving =
  /\b(chdir|fchdir|dir_fd|openat|copytree|make_archive|rmtree|cpSync|rmSync|fs\.(cp|rm)|FileUtils|readdir\w*|listdir|scandir|os\.walk|i?glob\.i?glob|rglob|iterdir|Dir\.(glob|entries|children)|mmap|fdopen)\b|@ARGV\s*=/

/** `Path("a").read_text()` names its file; another object may be any. */
const pathMethods = (text: string): boolean =>
  [...text.matchAll(/\.(read_text|read_bytes|write_text|write_bytes)\b/g)].some(
    ({ index }) => !/\bPath\s*\(\s*(["'])[^"'\\]*\1\s*\)$/.test(text.slice(0, index)),
  )

const calls = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map((found) => text.slice(found.index + found[0].length))

/** A call whose first argument is text as it stands, or a list of such. */
const literal = String.raw`(?:"[^"\\$#{]*"|'[^'\\]*')`
const plainCommand = call(String.raw`${literal}|\[\s*${literal}(?:\s*,\s*${literal})*\s*\]`)
/** For a file: also a word of the line, or the input. */
const plainFile = call(
  String.raw`${literal}|(?:sys|process)\.argv\[\d+\]|\$?ARGV\[\d+\]|\$argv\[\d+\]|0\b|sys\.stdin|STDIN`,
)

function call(argument: string): RegExp {
  return new RegExp(String.raw`^\s*(?:\(\s*)?(?:${argument})\s*(?:[,);\n]|$)`)
}

/** awk: a command or a file that is one string, and nothing joined to it. */
function awkComputes(code: readonly string[]): Computed {
  const bare = code.map(bareAwk).filter((text) => awkStarts.test(text))
  const plain = /\bsystem\s*\(\s*""\s*\)|(?:^|[;{}(\n])\s*""\s*\|\s*getline\b|\|&?\s*""\s*(?=[;})\n]|$)/g
  const files = /\bgetline\b[^;})\n]*<\s*""\s*(?=[;})\n]|$)|\bprintf?\b[^;}\n>|]*>{1,2}\s*""\s*(?=[;}\n]|$)/g
  return {
    commands: bare.some((text) => /\bsystem\b|\||@/.test(text.replace(plain, ''))),
    files: bare.some((text) =>
      /\bgetline\b|@|\bprintf?\b[^;}\n]*>|\bARG[VC]\b/.test(text.replace(files, '').replace(plain, '')),
    ),
  }
}
