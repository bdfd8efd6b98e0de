import { bash, type Starter } from './starter.ts'
import { verbRules } from './verbs.ts'

export const packagePublishing: Starter = {
  id: 'package-publishing',
  about: 'nothing is published to a registry',
  limits:
    'A script that publishes inside (`./ship.sh`, a workflow on a server): keep the token of the registry out of reach of agents.',
  words: ['publish', 'publishing', 'package', 'registry', 'npm', 'release'],
  permissions: {
    deny: [
      ...verbRules({
        npm: ['publish', 'pub', 'unpublish', 'deprecate', 'dist-tag', 'stage', 'run publish', 'run release'],
        'pnpm yarn bun npx pnpx bunx corepack': ['publish', 'run publish', 'run release'],
        'deno jsr lerna nx rush changeset vsce ovsx opam dub composer puppet ansible-galaxy wrangler': ['publish'],
        'luarocks conda anaconda cabal stack conan cosign': ['upload', 'publish'],
        'netlify vercel firebase': ['deploy', '--prod'],
        swift: ['package-registry publish'],
        'node nodejs': ['npm-cli.js publish', '*npm-cli.js publish', '*npm publish'],
        'cargo poetry uv hatch flit pdm': ['publish', 'yank'],
        'gem dart flutter': ['push', 'yank', 'pub publish', 'publish'],
        'docker podman buildah oras helm nerdctl crane': ['push', '--push'],
        'mvn gradle gradlew ./gradlew ./mvnw sbt': ['deploy', 'publish', 'upload'],
        'dotnet nuget': ['nuget push', 'push'],
        'gh glab hub': ['release create', 'release upload'],
        'pod mix': ['trunk push', 'hex.publish'],
        'cargo goreleaser': ['release'],
        skopeo: ['copy', 'sync'],
        'twine uvx': ['upload'],
      }),
      ...['Bash(python* -m twine*)', 'Bash(python* -m build --upload*)', 'Bash(semantic-release*)', 'Bash(np)'],
      ...['Bash(npx * semantic-release*)', 'Bash(npx semantic-release*)', 'Bash(release-it*)', 'Bash(npx release-it*)'],
      ...['Bash(np *)', 'Bash(npx np*)', 'Bash(npm-publish*)', 'Bash(cargo-release*)'],
    ],
  },
  refuses: [
    ...['npm publish --access public', 'npm --prefix app publish', 'npm -w a publish', 'npm exec -- npm publish'],
    ...['yarn npm publish', 'yarn workspace a npm publish', 'pnpm -r publish', 'npx lerna publish', 'bun publish'],
    ...['npx -y npm@latest publish', 'cargo +nightly publish', 'python3 -m twine upload dist/*', 'gem push a.gem'],
    ...['docker push acme/app:latest', 'docker buildx build --push .', 'npm run release', './gradlew publish'],
    ...['gh release create v1', 'env npm publish', 'npx semantic-release', 'npm version patch && npm publish'],
  ].map(bash),
  allows: [bash('echo npm pack'), bash('npm --version'), bash('cat package.json || true')],
}
