import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environment } from './environment.ts'

test('managed variables hold, and where they concern telemetry nobody else has a say in it', () => {
  const settings = {
    hooks: [],
    env: { A: 'settings', B: 'settings', OTEL_SDK_DISABLED: 'true', SDLC_DISABLE_ALL_HOOKS: '1' },
  }
  const own = { A: 'own', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://elsewhere', C: 'own' }
  const managedEnv = { B: 'managed', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector' }
  assert.deepEqual(environment(own, { settings, managedEnv }), {
    ...{ A: 'settings', B: 'managed', C: 'own' },
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector',
  })
  assert.deepEqual(environment(own, { settings, managedEnv: {} }), {
    ...{ A: 'settings', B: 'settings', C: 'own', OTEL_SDK_DISABLED: 'true' },
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://elsewhere',
  })
  const disabled = { ...own, SDLC_DISABLE_ALL_HOOKS: '1' }
  assert.deepEqual(environment(disabled, { settings: { hooks: [] }, managedEnv: {} }), disabled)
})
