/** Where an event may be posted to: https, or http on this machine only. */

/** Why a URL may not be posted to, or undefined when it may. */
export function urlProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL'
  const { protocol, hostname, username, password } = new URL(text)
  if (username || password) return 'has a password in it; give it in a header, from an environment variable'
  if (protocol === 'https:') return undefined
  if (protocol !== 'http:') return `is ${protocol}; only http and https can be posted to`
  return isLoopback(hostname) ? undefined : 'sends the event unencrypted to another machine; use https'
}

const isLoopback = (host: string) => host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
