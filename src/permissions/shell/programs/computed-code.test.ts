/** Which code on a line starts programs or opens files by names that are only known when it runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computedIn } from './computed-code.ts'

const words = (text: string) => text.split(' ')
const found = (name: string, code: string) => {
  const { commands, files } = computedIn(name, [code])
  return `${commands ? 'commands' : ''}${files ? ' files' : ''}`.trim()
}
/** The codes that are judged otherwise. */
const others = (is: string, codes: readonly string[], name = 'python3') =>
  codes.flatMap((code) => (found(name, code) === is ? [] : [`${found(name, code)}: ${code}`]))

test('functions that are reached by another name hide commands and files', () => {
  const names =
    'eval exec __import__ importlib runpy getattr attrgetter globals __dict__ __builtins__ builtins ctypes cffi CDLL instance_eval class_eval module_eval public_send __send__ const_get call_user_func call_user_func_array create_function loadstring dofile loadfile dlopen unpickle vm constructor _load createRequire mainModule getBuiltinModule'
  const more = [
    ...[
      'pickle.load(f)',
      'marshal.loads(f)',
      'Function ("x")',
      'process.binding("fs")',
      'process._linkedBinding("fs")',
    ],
    ...['require(x)', 'import ("a" + b)', 'o["a" + b]', '&{x}', '$o->$m', 'no strict', '$f (1)', 'do "x.pl"', 'do $x'],
  ]
  assert.deepEqual(others('commands files', [...words(names).map((name) => `${name}(x)`), ...more]), [])
  const plain = ['evaluate(x)', 'my_exec = 1', 'exec = 1', "require('a')", 'import("b")', 'o["a"]', 'print(x)']
  assert.deepEqual(others('', plain), [])
})

test('a text with a value put into it is none that stands there', () => {
  assert.deepEqual(
    others('commands', ['system("a#{b}")', 'system("a{b}")', 'system("a$b")', 'system("a\\x62")'], 'ruby'),
    [],
  )
  assert.deepEqual(others('files', ['File.read("a#{b}")', 'open("a{b}")', 'open("a$b")'], 'ruby'), [])
  assert.deepEqual(others('commands', ['`a #{b}`', '`a $b`', 'qx(a)', '%x(a)'], 'ruby'), [])
  assert.deepEqual(others('', ["system('a#{b}')", "open('a{b}')", "open('a$b')"], 'ruby'), [])
})

test('a path is the one that its own object names', () => {
  assert.deepEqual(
    others('files', ['Path("a"); x.read_text()', 'y = Path("a") ; x.write_bytes(b)', 'x.read_bytes()']),
    [],
  )
  assert.deepEqual(others('', ['Path("a").read_text()', "Path('a' ).write_text('b')"]), [])
})

test('scripts of sed run nothing by such names', () => {
  const scripts = ['s/eval(x)/exec(y)/', 's/system(x)/`$y`/', 's/open(x)/rmtree(y)/', '/subprocess/d']
  assert.deepEqual(others('', scripts, 'sed'), [])
})

test('what starts a program: by a name that stands there, or by one that does not', () => {
  const starts = words(
    'system popen popen2 execSync execFile execFileSync execv execvp execve execl execlp spawn spawnSync posix_spawn posix_spawnp startfile shell_exec passthru proc_open pcntl_exec syscall Popen check_output check_call getoutput getstatusoutput capture2 capture2e os.execute subprocess.run subprocess.call',
  )
  assert.deepEqual(
    others(
      'commands',
      starts.map((name) => `${name}(x)`),
    ),
    [],
  )
  assert.deepEqual(
    others(
      'commands',
      starts.map((name) => `${name}("a" + x)`),
    ),
    [],
  )
  assert.deepEqual(
    others(
      '',
      starts.map((name) => `${name}("ls -l")`),
    ),
    [],
  )
  assert.deepEqual(
    others(
      '',
      starts.map((name) => `${name}(['ls', "-l"])`),
    ),
    [],
  )
  const modules = words('subprocess child_process node-pty pty Open3 multiprocessing pexpect IPC::Run')
  assert.deepEqual(others('commands', [...modules.map((name) => `${name} x`), '`ls $x`', 'qx x', '%x y']), [])
})

test('what opens a file: by a name that stands there, a word of the line or the input; or by one that does not', () => {
  const opens = words(
    'open fopen sysopen opendir file_get_contents file_put_contents readfile readFile readFileSync writeFile writeFileSync appendFile appendFileSync createReadStream createWriteStream openSync unlink unlinkSync rename renameSync copyFile copyFileSync copyfile copy copy2 symlink link remove fileinput.input slurp foreach readlines io.lines sendfile Path File.read File.open File.write File.readlines File.foreach File.delete File.rename File.new IO.read IO.readlines IO.foreach',
  )
  assert.deepEqual(
    others(
      'files',
      opens.map((name) => `${name}(x)`),
    ),
    [],
  )
  assert.deepEqual(
    others(
      '',
      opens.map((name) => `${name}("a.txt")`),
    ),
    [],
  )
  const known = [
    'open(sys.argv[1])',
    'open(process.argv[2])',
    'open(ARGV[0])',
    'open($argv[1])',
    'open(0)',
    'open(sys.stdin)',
  ]
  assert.deepEqual(others('', known), [])
  const trees =
    'chdir fchdir dir_fd openat copytree make_archive rmtree cpSync rmSync fs.cp fs.rm FileUtils readdir readdirSync listdir scandir os.walk glob.glob rglob iterdir Dir.glob Dir.entries Dir.children mmap fdopen'
  assert.deepEqual(others('files', [...words(trees).map((name) => `${name} ("a")`), '@ARGV = (1)']), [])
  const methods = words('read_text read_bytes write_text write_bytes')
  assert.deepEqual(
    others(
      'files',
      methods.map((name) => `p.${name}()`),
    ),
    [],
  )
  assert.deepEqual(
    others(
      '',
      methods.map((name) => `Path("a").${name}()`),
    ),
    [],
  )
})

test('awk: a command or a file that is one string is seen, anything joined to it is not; sed is judged elsewhere', () => {
  const seen = [
    '{ system("ls") }',
    '{ print | "sort" }',
    '{ "date" | getline }',
    '{ getline < "a" }',
    '{ print > "a" }',
    '{ system("ls"); system("date") }',
    '{ "date" | getline; "ls" | getline }',
    '{ getline < "a"; getline < "b" }',
    '{ print > "a"; print > "b" }',
  ]
  assert.deepEqual(others('', [...seen, '{ print $1 }', '/a|b/', '{ print "a > b" }'], 'awk'), [])
  assert.deepEqual(others('commands', ['{ system(x) }', '{ print | x }', '{ system("a" x) }'], 'gawk'), [])
  assert.deepEqual(others('files', ['{ getline < x }', '{ print > x }', '{ printf "%s", 1 >> x }'], 'mawk'), [])
  assert.deepEqual(others('files', ['BEGIN { ARGV[1] = x }', 'BEGIN { ARGC = 2 }'], 'nawk'), [])
  assert.deepEqual(others('commands files', ['@include "x"', '{ "date" x | getline }'], 'awk'), [])
  assert.deepEqual([found('sed', 's/x/y/e'), computedIn('python3', [])], ['', { commands: false, files: false }])
})
