import { api } from './session.js';
import type { OnvifDiscovery, OnvifProbeResult } from './types.js';

/** It asks for 30 s at most, and tests streams for another 10. */
const PROBE_TIMEOUT_MS = 60_000;

export const discoverDevices = (signal: AbortSignal): Promise<OnvifDiscovery> =>
  api('GET', '/api/onvif/discover?interface=all&seconds=4', { signal });

export const probeDevice = (
  body: { readonly address: string; readonly username: string; readonly password: string },
  signal: AbortSignal,
): Promise<OnvifProbeResult> =>
  api('POST', '/api/onvif/probe', { body, signal, timeoutMs: PROBE_TIMEOUT_MS });
