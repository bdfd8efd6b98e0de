/**
 * Variables that a repository's settings do not set, trusted or not: where the model and its key are reached, what is taken for a
 * safe connection, what programs are found by and loaded with, where the record is sent, and ona's own switches. Trust is given for
 * what a folder shows; these act on what lies outside of it.
 */
import { isTelemetryVariable } from '../telemetry.ts'

const refused: readonly RegExp[] = [
  /_(BASE_URL|API_KEY|AUTH_TOKEN|API_HOST|CUSTOM_HEADERS|OAUTH_TOKEN)$/,
  /^((HTTPS?|ALL|NO|FTP|SOCKS)_PROXY|GLOBAL_AGENT_.*)$/i,
  /^(NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|NODE_USE_.*|SSL_CERT_(FILE|DIR)|SSLKEYLOGFILE|(CURL|REQUESTS)_CA_BUNDLE|GIT_SSL_.*|OPENSSL_.*)$/,
  /^(PATH|HOME|USERPROFILE|SHELL|TMPDIR|IFS|ENV|BASH_ENV|BASH_FUNC_.*|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|PS4|ZDOTDIR|XDG_.*|LD_.*|DYLD_.*)$/i,
  /^(NODE_OPTIONS|NODE_PATH|NODE_REPL_.*|PYTHON(STARTUP|PATH|HOME)|PERL5(OPT|LIB|DB)|RUBY(OPT|LIB)|_?JAVA_(TOOL_)?OPTIONS|JDK_JAVA_OPTIONS)$/,
  /^(GIT_(CONFIG.*|EXEC_PATH|SSH.*|ASKPASS|EXTERNAL_DIFF|PAGER|EDITOR|PROXY_COMMAND|DIR|TEMPLATE_DIR)|SSH_ASKPASS|EDITOR|VISUAL|PAGER|BROWSER|LESSOPEN)$/,
  /^(ONA_.*|SDLC_.*|AGENT_SDLC_.*|CLAUDE_CONFIG_DIR|CLAUDECODE|npm_config_.*)$/,
]

export const isRefusedVariable = (name: string): boolean =>
  isTelemetryVariable(name) || refused.some((names) => names.test(name))
