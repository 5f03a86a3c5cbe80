import { isLoopback } from '../base/client-address.js';
import type { Logger } from '../base/log.js';

/** Tells at the start if whoever reaches the service may watch: that is the default of a camera, and easily overlooked. */
export const warnOfExposure = (
  log: Logger,
  { host, publicCameras }: { readonly host: string; readonly publicCameras: number },
): void => {
  if (publicCameras === 0 || isLoopback(host) || host === 'localhost') return;
  log.warn('whoever reaches this service may watch cameras without a token: their token_auth is off', {
    cameras: publicCameras,
    host,
  });
};
