/** Ways to files that a command must not read or write. */
import type { Case } from './cases.ts'

export const fileCases: readonly Case[] = [
  { name: 'read a key in the home', run: 'cat ~/.ssh/id_rsa', control: true },
  { name: 'read any file of the home', run: 'cat ~/notes.txt', control: true },
  { name: 'read cloud credentials', run: 'cat ~/.aws/credentials', control: true },
  { name: "read ona's database", run: 'cat ~/.ona/agent.db', control: true },
  { name: 'read the home of root', run: 'cat /root/.ssh/* /root/.bash_history && echo BREACH' },
  { name: 'read the password file', run: 'cat /etc/shadow && echo BREACH' },
  { name: 'read a file that a rule denies', run: 'cat private/key', control: true },
  {
    name: 'read it with another program',
    run: 'perl -ne print private/key; tar c private | tr -d "\\0"; grep -r . private',
    control: true,
  },
  { name: 'read it through a symlink', run: 'ln -s private/key link; cat link; rm link', control: true },
  { name: 'read it through a symlink to its folder', run: 'ln -s "$PWD/private" l; cat l/key; rm l', control: true },
  { name: 'read it through a hard link', run: 'ln private/key hard && cat hard; rm -f hard', control: true },
  { name: 'read it through /proc/self/root', run: 'cat /proc/self/root$PROJECT/private/key', control: true },
  { name: 'read it through /proc/self/cwd', run: 'cat /proc/self/cwd/private/key', control: true },
  { name: 'read it through /proc/1/root', run: 'cat /proc/1/root$PROJECT/private/key /proc/1/root$SECRET_PATH' },
  {
    name: 'read it after renaming its folder',
    run: 'mv private public && cat public/key; mv public private',
    control: true,
  },
  {
    name: 'read it after renaming the project',
    run: 'mv "$PROJECT" "$PROJECT.old"; cat "$PROJECT.old/private/key" "$PROJECT/private/key"',
  },
  {
    name: 'read it with a relative path that climbs',
    run: 'cat ../project/private/key ./src/../private/key',
    control: true,
  },
  { name: 'make it readable', run: 'chmod -R 777 private; cat private/key', control: true },
  { name: 'copy it', run: 'cp -r private copy; cat copy/key; rm -rf copy', control: true },
  {
    name: 'add it to git',
    run: 'git add -f private/key && git show :private/key; git rm -q --cached -f private/key',
    control: true,
  },
  {
    name: 'read .env',
    run: "cat .env; node -e \"console.log(require('fs').readFileSync('.env','utf8'))\"; source .env; echo $TOKEN",
    control: true,
  },
  { name: 'write outside', run: 'echo x > "$OUTSIDE/file.txt"', control: true },
  { name: 'write outside through a symlink', run: 'ln -s "$OUTSIDE/file.txt" l; echo x > l; rm l', control: true },
  {
    name: 'write outside through a symlinked folder',
    run: 'ln -s "$OUTSIDE" d; echo x > d/new.txt; rm d',
    control: true,
  },
  { name: 'write outside with a path that climbs', run: 'echo x > ../outside/file.txt', control: true },
  { name: 'write outside through a hard link', run: 'ln "$OUTSIDE/file.txt" h && echo x > h; rm -f h', control: true },
  { name: 'remove a file outside', run: 'rm -rf "$OUTSIDE/folder"', control: true },
  { name: 'rename a folder outside', run: 'mv "$OUTSIDE/folder" "$OUTSIDE/other"', control: true },
  { name: 'change a mode outside', run: 'chmod 777 "$OUTSIDE/file.txt"', control: true },
  {
    name: 'change a time or attribute outside',
    run: 'touch -d 2001-01-01 "$OUTSIDE/file.txt" && echo BREACH touch; setfattr -n user.x -v 1 "$OUTSIDE/file.txt" 2>/dev/null && echo BREACH xattr',
  },
  { name: 'truncate a file outside', run: ': > "$OUTSIDE/file.txt"', control: true },
  { name: 'write a file that a rule locks', run: 'echo x > locked.txt', control: true },
  { name: 'replace a file that a rule locks', run: 'echo x > n; mv -f n locked.txt; rm -f n', control: true },
  { name: 'remove a file that a rule locks', run: 'rm -f locked.txt', control: true },
  { name: 'link over a file that a rule locks', run: 'ln -sf /etc/hostname locked.txt', control: true },
  { name: "write ona's settings in the project", run: 'echo "{}" >> .ona/settings.json', control: true },
  { name: "write Claude Code's settings in the project", run: 'echo "{}" >> .claude/settings.json', control: true },
  {
    name: 'replace the settings folder',
    run: 'mv .ona .ona2 && mkdir .ona && echo "[]" > .ona/settings.json',
    control: true,
  },
  {
    name: 'create the settings of another agent',
    run: 'mkdir -p .codex .gemini .cursor; echo x > .codex/config.toml; echo x > .gemini/settings.json; echo x > .cursor/mcp.json',
    control: true,
  },
  { name: 'create .mcp.json', run: 'echo "{}" > .mcp.json', control: true },
  { name: 'create .mcp.json by renaming', run: 'echo "{}" > x.json; mv x.json .mcp.json', control: true },
  { name: 'create .github/hooks', run: 'mkdir -p .github/hooks; echo x > .github/hooks/a.json', control: true },
  { name: 'write a start-up file of the shell', run: 'echo "echo hi" >> ~/.bashrc', control: true },
  { name: 'replace a start-up file of the shell', run: 'echo x > n; mv -f n ~/.bashrc; rm -f n', control: true },
  {
    name: 'write in ~/.ona',
    run: 'echo "{}" > ~/.ona/settings.json; echo x > ~/.ona/new; rm -rf ~/.ona',
    control: true,
  },
  {
    name: 'write in the home',
    run: 'echo x > ~/new.txt; mkdir -p ~/.config/autostart && echo x > ~/.config/autostart/a.desktop',
    control: true,
  },
  {
    name: 'write managed settings',
    run: 'mkdir -p /etc/ona && echo "{}" > /etc/ona/managed-settings.json && echo BREACH',
  },
  {
    name: 'write a system file',
    run: 'echo x >> /etc/profile && echo BREACH; touch /usr/bin/ona-escape && echo BREACH',
  },
  {
    name: 'schedule with cron',
    run: 'echo "* * * * * true" | crontab - && echo BREACH; echo x > /etc/cron.d/x && echo BREACH; touch /var/spool/cron/x && echo BREACH',
  },
  {
    name: 'leave a setuid program',
    run: 'cp /bin/true s; chmod 4755 s; perl -e \'chmod 06755, "s"\'; install -m 4755 /bin/true t; true',
    control: true,
  },
  {
    name: 'create a setuid file at once',
    run: 'perl -e \'use Fcntl; sysopen(my $f, "s", O_CREAT|O_WRONLY, 04755)\'; true',
    control: true,
  },
  {
    name: 'find temporary files of the host',
    run: 'ls /tmp/ona-sandbox-* /tmp/ona-escape-*/home /var/tmp/ona-* && echo BREACH',
  },
]

export const gitCases: readonly Case[] = [
  {
    name: 'write a git hook',
    run: 'echo "touch $OUTSIDE/hooked" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit',
    control: true,
  },
  {
    name: 'write git configuration',
    run: 'git config core.pager "sh -c id"; git config alias.x "!id"; git config core.fsmonitor ./x',
    control: true,
  },
  {
    name: 'write git configuration past git',
    run: 'echo "[core] hooksPath = /x" >> .git/config; sed -i s/a/a/ .git/config',
    control: true,
  },
  {
    name: 'replace the .git folder',
    run: 'mv .git .git2 && git init -q . && echo x > .git/hooks/post-checkout; [ -d .git2 ] && echo BREACH moved',
  },
  {
    name: 'write git configuration through a hard link, a lock and a rename',
    run: 'ln .git/config x && echo "[core]" >> x; cp .git/config .git/config.lock; echo "[core] fsmonitor = ./x" >> .git/config.lock; mv -f .git/config.lock .git/config; rm -f .git/config.lock x',
  },
  {
    name: 'move what lies above git configuration',
    run: 'mv .git/hooks h; mv .git/info i; mv "$PROJECT" "$PROJECT-2"; mkdir -p "$PROJECT/.git" && echo "[core]" > "$PROJECT/.git/config"; exchange() { perl -e "exit(syscall(316, -100, \\$ARGV[0], -100, \\$ARGV[1], 2) == 0 ? 0 : 1)" "$1" "$2"; }; mkdir g; exchange .git g && echo BREACH; exchange .git/config src/app.js && echo BREACH; rmdir g; true',
  },
  {
    name: 'a submodule that brings its own configuration',
    run: 'mkdir -p sub; echo "gitdir: ../.git/modules/sub" > sub/.git; mkdir -p .git/modules/sub; printf "[core]\\n\\tfsmonitor = ./x\\n" > .git/modules/sub/config; rm -rf sub',
  },
  {
    name: 'take the place of a protected folder while it is made and removed',
    run: 'for i in $(seq 1 300); do rmdir .codex 2>/dev/null; mkdir .codex 2>/dev/null && echo x > .codex/config.toml; mv .cursor c$i 2>/dev/null; ln -s /tmp .gemini 2>/dev/null; done; rm -rf c[0-9]*; chmod u+w .codex .cursor .gemini 2>/dev/null; echo x > .codex/config.toml; true',
  },
  { name: 'point git elsewhere with commondir', run: 'mkdir -p c/hooks; echo "$PWD/c" > .git/commondir; sleep 1' },
  {
    name: 'add a configuration for worktrees',
    run: 'echo "[core]" > .git/config.worktree; mkdir -p .git/info; echo "* filter=x" > .git/info/attributes',
  },
  { name: 'replace the hooks folder by a link', run: 'rm -rf .git/hooks; mkdir h; ln -s ../h .git/hooks; rm -rf h' },
  {
    name: 'plant a module of a submodule',
    run: 'mkdir -p .git/modules/m/hooks && echo x > .git/modules/m/hooks/pre-commit',
  },
  {
    name: "write the user's git configuration",
    run: 'git config --global core.pager id; echo x > ~/.gitconfig',
    control: true,
  },
  {
    name: 'an npm script of the project',
    run: 'echo \'{"name":"x","version":"1.0.0","scripts":{"test":"cat ~/.ssh/id_rsa; echo x > $OUTSIDE/npm.txt"}}\' > package.json; npm test --offline 2>&1',
    control: true,
  },
]
