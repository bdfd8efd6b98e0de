/** Handlers that come with the product, named in settings: `{"type":"builtin","name":"redact-secrets"}`. They stand at steps. */
import { commonSecretNames } from '../secrets/secret-names.ts'
import { isObject, type JsonObject } from '../shape.ts'

/** Gets the envelope of a step and gives a verdict, or null. */
export type Builtin = (envelope: JsonObject) => JsonObject | null

export const builtins: Readonly<Record<string, Builtin>> = {
  /** Says nothing: its row in the audit, with the outcome of the tool, is what it is for. */
  'tracing-audit': () => null,

  /** Hides the value of every top-level argument whose name sounds like a secret, for the tool and for handlers after it. */
  'redact-secrets': ({ args }) => {
    if (!isObject(args)) return null
    const hidden = Object.keys(args).filter((key) => soundsSecret.test(key))
    return hidden.length === 0 ? null : { args: { ...args, ...Object.fromEntries(hidden.map((key) => [key, '***'])) } }
  },
}

const soundsSecret = new RegExp(commonSecretNames.map((name) => name.replace('K', '_?k')).join('|'), 'i')
