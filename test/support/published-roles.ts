/** A roles package of the shape in which they are published, as files of a repository that has it installed. */

/** Registry and roles are class instances with the keys of the literal; URIs are absolute. */
export const publishedIndex = `
class Role { static build(it) { return Object.assign(new Role(), it) } }
class RoleRegistry { static build(it) { return Object.assign(new RoleRegistry(), it) } }
const uri = (path) => ({ uri: __dirname + '/' + path })
const bin = './node_modules/.bin/rhachet'
const init = (name) => bin + ' run --repo ehmpathy --role mechanic --init ' + name
exports.getRoleRegistry = () => RoleRegistry.build({
  slug: 'ehmpathy',
  readme: uri('readme.md'),
  roles: [
    Role.build({
      slug: 'mechanic',
      name: 'Mechanic',
      purpose: 'keep the engine clean',
      readme: uri('readme.md'),
      boot: uri('boot.yml'),
      keyrack: uri('keyrack.yml'),
      traits: [],
      briefs: { dirs: uri('briefs') },
      skills: { dirs: [uri('skills')], refs: [] },
      inits: { dirs: uri('inits'), exec: [] },
      hooks: {
        onBrain: {
          onBoot: [
            { command: bin + ' roles boot --repo ehmpathy --role mechanic', timeout: 'PT60S' },
            { command: init('claude.hooks/postcompact.remind'), timeout: 'PT10S', filter: { what: 'PostCompact' } },
            { command: init('claude.hooks/unheard'), timeout: 'PT10S', filter: { what: 'PreTeleport' } },
          ],
          onTool: [
            { command: init('claude.hooks/pretooluse.check'), timeout: 'PT5S', filter: { what: 'Bash', when: 'before' } },
            { command: init('claude.hooks/posttooluse.note'), timeout: 'PT5S', filter: { what: 'Write|Edit', when: 'after' } },
            { command: init('claude.hooks/plan'), timeout: 'PT5S', filter: { what: 'EnterPlanMode' } },
          ],
          onTalk: [{ command: init('claude.hooks/userpromptsubmit.hello'), timeout: { seconds: 5 } }],
          onTeleport: [{ command: 'x', timeout: 'PT5S' }],
        },
      },
    }),
    Role.build({ slug: 'driver', briefs: { dirs: uri('briefs') }, hooks: { onBrain: { onStop: [{ command: 'echo parked', timeout: 'PT5S' }] } } }),
  ],
})`

const check = `#!/bin/sh
read -r event
case "$event" in *forbidden*) echo "not in this garage" >&2; exit 2 ;; esac
echo "args: $*" >&2
`

const pack = 'node_modules/rhachet-roles-ehmpathy'

/** From the root of the repository; those that end in `.sh` are executable. `node_modules/.bin/rhachet` is not among them. */
export const publishedFiles: Readonly<Record<string, string>> = {
  'package.json': '{ "devDependencies": { "rhachet-roles-ehmpathy": "1" } }',
  '.claude/settings.json': '{}\n',
  [`${pack}/package.json`]: '{ "name": "rhachet-roles-ehmpathy", "version": "1.38.10", "main": "index.cjs" }',
  [`${pack}/index.cjs`]: publishedIndex,
  [`${pack}/boot.yml`]: 'briefs:\n  say: ["briefs/clean.md"]\n  ref: ["briefs/*.md"]\n',
  [`${pack}/briefs/clean.md`]: 'Keep it clean.\n',
  [`${pack}/briefs/long.md`]: 'A very long story.\n',
  [`${pack}/skills/tow.sh`]: '#!/bin/sh\necho "tow $*"; cat; exit 7\n',
  [`${pack}/inits/claude.hooks/pretooluse.check.sh`]: check,
  [`${pack}/inits/claude.hooks/posttooluse.note.sh`]: '#!/bin/sh\n',
  [`${pack}/inits/claude.hooks/userpromptsubmit.hello.sh`]: '#!/bin/sh\necho hello from the garage\n',
  [`${pack}/inits/claude.hooks/postcompact.remind.sh`]: '#!/bin/sh\necho again\n',
}
