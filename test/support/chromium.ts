/** Where a Chromium is, or undefined: `ONA_CHROMIUM`, else where systems put it. */
import { existsSync } from 'node:fs'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

export const chromiumPath = [process.env['ONA_CHROMIUM'] ?? '', ...places].find((path) => existsSync(path))
