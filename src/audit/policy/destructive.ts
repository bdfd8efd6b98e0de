/** Commands that destroy, publish or reach production: never proposed for an allow rule, whatever was approved before. */

const patterns: readonly RegExp[] = [
  /\b(?:rm|rmdir|shred|truncate|dd|mkfs\S*|fdisk|wipefs|kill|pkill|killall|shutdown|reboot)\b/,
  /\bsudo\b|\bdoas\b|\bchmod\b|\bchown\b/,
  /\bgit\s+(?:\S+\s+)*(?:push|reset|clean|rebase|filter-branch|filter-repo|update-ref|gc|checkout|restore|branch\s+-D|tag\s+-d|stash\s+(?:drop|clear))\b/,
  /\b(?:npm|pnpm|yarn|cargo|gem|twine|poetry|uv|dotnet|mvn|gradle)\s+(?:\S+\s+)*(?:publish|unpublish|deprecate|yank|upload|push|deploy)\b/,
  /\bgh\s+(?:repo\s+delete|release|secret|pr\s+merge|workflow\s+run|api)\b/,
  /\b(?:terraform|tofu|pulumi)\s+(?:\S+\s+)*(?:apply|destroy|up|import|taint|state)\b/,
  /\b(?:kubectl|helm|oc)\s+(?:\S+\s+)*(?:delete|apply|drain|cordon|scale|rollout|uninstall|upgrade|install|exec|edit|patch|replace)\b/,
  /\b(?:aws|gcloud|az|doctl|flyctl|fly|heroku|vercel|netlify|wrangler)\b/,
  /\bdocker\s+(?:\S+\s+)*(?:rm|rmi|prune|kill|push|login)\b/,
  /\b(?:psql|mysql|mongosh?|redis-cli|sqlite3)\b/,
  /\b(?:curl|wget|nc|ncat|ssh|scp|rsync|sftp)\b/,
]

export const isDestructive = (command: string): boolean => patterns.some((pattern) => pattern.test(command))
